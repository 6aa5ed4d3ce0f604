/* A whole forward in one call: a small model's layers take less time than the calls from Python between them. */
#include <string.h>

#include "dispatch.h"
#include "rows.h"
#include "tenon.h"
#include "threads.h"

/* Asking whether to stop takes Python's lock. */
enum { ASK_EVERY_US = 10000 };

int64_t tenon_forward_scratch_bytes(const struct tenon_model *model, const struct tenon_pass *pass, int32_t threads)
{
    int64_t most = 0;
    for (int64_t i = 0; i < model->layers; i++) {
        const int64_t bytes = tenon_layer_scratch_bytes(model->layer[i], &pass->steps[model->kind[i]], threads);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int32_t tenon_forward(const struct tenon_model *model, const struct tenon_pass *pass, uint8_t *scratch,
                      int32_t threads)
{
    const struct row_operations *rows = dispatch_highest()->rows;
    const int64_t width = model->hidden;
    int64_t asked = now_us();
    if (model->join.n && tenon_matmul(&model->join, pass->given, pass->m, pass->hidden, threads))
        return TENON_NO_MEMORY;
    for (int64_t i = 0; i < model->layers; i++) {
        const struct tenon_layer *layer = model->layer[i];
        if (pass->stop && now_us() - asked >= ASK_EVERY_US) {
            if (pass->stop())
                return TENON_STOPPED;
            asked = now_us();
        }
        if (pass->inputs && pass->inputs[i])
            memcpy(pass->inputs[i], pass->hidden, pass->m * width * sizeof(float));
        tenon_layer_forward(layer, &pass->steps[model->kind[i]], pass->caches, i, pass->hidden, scratch, threads);
    }
    for (int64_t row = 0; model->final_norm && row < pass->m; row++)
        rows->norm(pass->hidden + row * width, model->final_norm, model->norm_floor, width,
                   pass->normed + row * width);
    if (!pass->count)
        return 0;
    const float *mapped = model->final_norm ? pass->normed : pass->hidden;
    return tenon_matmul(&model->head, mapped + pass->first * width, pass->count, pass->logits, threads);
}
