/* Row operations in vectors of 256 bits. */
#define VECTOR_BYTES 32
#define ROW_OPERATIONS rows256
#define ATTENTION attention256
#include "rows_template.h"
#include "attention_float.h"
