#define QUANTIZE_ROW quantize_row_256
#include "quantize_row.h"
