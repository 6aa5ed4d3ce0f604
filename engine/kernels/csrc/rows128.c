/* Row operations in vectors of 128 bits. */
#define VECTOR_BYTES 16
#define ROW_OPERATIONS rows128
#define ATTENTION attention128
#include "rows_template.h"
#include "attention_float.h"
