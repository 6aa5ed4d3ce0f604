/* Row operations in vectors of 512 bits. */
#define VECTOR_BYTES 64
#define ROW_OPERATIONS rows512
#define ATTENTION attention512
#include "rows_template.h"
#include "attention_float.h"
