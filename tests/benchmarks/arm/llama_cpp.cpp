/* The same product by llama.cpp, whose processor backend rearranges weights where it has kernels for that: type, n, k, m,
 * times. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"
#include "random.h"

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    const auto type = static_cast<ggml_type>(atoi(argv[1]));
    const int64_t n = atoi(argv[2]), k = atoi(argv[3]), m = atoi(argv[4]);
    ggml_backend_t cpu = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(cpu, 1);
    ggml_context *weights = ggml_init({1 << 20, nullptr, true}), *graph = ggml_init({1 << 22, nullptr, true});
    ggml_tensor *w = ggml_new_tensor_2d(weights, type, k, n), *x = ggml_new_tensor_2d(graph, GGML_TYPE_F32, k, m);
    ggml_tensor *out = ggml_mul_mat(graph, w, x);
    ggml_cgraph *steps = ggml_new_graph(graph);
    ggml_build_forward_expand(steps, out);
    ggml_backend_dev_t device = ggml_backend_get_device(cpu);
    const auto further = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts"));
    ggml_backend_buffer_t placed = nullptr;
    for (ggml_backend_buffer_type_t *kind = further(device); kind && *kind && !placed; kind++) {
        w->buffer = ggml_backend_buft_alloc_buffer(*kind, 0);
        const bool taken = ggml_backend_supports_op(cpu, out);
        ggml_backend_buffer_free(w->buffer);
        w->buffer = nullptr;
        if (taken)
            placed = ggml_backend_alloc_ctx_tensors_from_buft(weights, *kind);
    }
    if (!placed)
        ggml_backend_alloc_ctx_tensors(weights, cpu);
    std::vector<uint8_t> raw(ggml_nbytes(w));
    std::vector<float> floats(static_cast<size_t>(m * k));
    random_blocks(raw.data(), static_cast<int64_t>(raw.size()), static_cast<int64_t>(ggml_type_size(type)));
    random_floats(floats.data(), m * k);
    ggml_backend_tensor_set(w, raw.data(), 0, raw.size());
    ggml_gallocr_alloc_graph(ggml_gallocr_new(ggml_backend_get_default_buffer_type(cpu)), steps);
    ggml_backend_tensor_set(x, floats.data(), 0, 4 * floats.size());
    for (int i = 0; i < atoi(argv[5]); i++)
        ggml_backend_graph_compute(cpu, steps);
    float first;
    ggml_backend_tensor_get(out, &first, 0, 4);
    printf("%g\n", static_cast<double>(first));
    return 0;
}
