/* What this ARM processor can do. */
#ifndef TENON_ARM_H
#define TENON_ARM_H

int arm_has_neon(void);
int arm_has_dotprod(void);

#endif
