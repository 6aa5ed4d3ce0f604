/* The library's whole interface: plain C, little-endian machines, no dependency but libc, libm and threads.
 *
 * Weights are GGUF's block types, arranged: no value changes. Rows (output channels) stand in panels of 32, padded with
 * zero bytes. A panel is a sequence of units of a block's inner elements. A unit is, for each of its groups of 32 inner
 * elements, planes of 128 bytes [32 rows][4 bytes], and then scales, so that a matrix-vector
 * product reads one contiguous stream, and every dot-product instruction finds the operand it wants. Step s of a group
 * is its inner elements 4s..4s+3.
 *
 *   nibble planes (4)     plane p, byte i: inner element 4p+i in the low nibble, 16+4p+i in the high one
 *   two-bit planes (2)    plane p, byte i: bits 2f and 2f+1 are inner element 4(4p+f)+i
 *   bit plane (1)         byte i: bit s is inner element 4s+i
 *   byte planes (8)       plane p, byte i: inner element 4p+i
 *   trit planes           of a whole unit of E elements, five to a byte: planes 0 to E/32-1, of which plane p's trit t of
 *                         byte i is inner element tE/8+4p+i; E/64 planes for what follows, plane p's 5E/8+tE/16+4p+i; and
 *                         [32 rows][E/64 bytes] for the last, four to a byte: byte i's 15E/16+tE/64+i. Trit t of a byte q
 *                         is 3 (3^t q mod 256) / 256, rounded down
 *
 *   Q8_0          byte planes; half d[32]
 *   Q4_0, IQ4_NL  nibble planes; half d[32]                  Q4_1   nibble planes; half d[32], half m[32]
 *   Q5_0          nibble, bit plane; half d[32]              Q5_1   nibble, bit plane; half d[32], half m[32]
 *   MXFP4         nibble planes; uint8 exponent[32]
 *   NVFP4         nibble planes; uint8 scale[4][32], of four bits of exponent and three of mantissa
 *   Q1_0          bit plane; half d[32]                      Q2_0, PQ2_0, TQ2_0   two-bit planes; half d[32]
 *   TQ1_0, PTQ1_0 trit planes; half d[32]
 *   Q4_K          nibble planes; uint8 scale[8][32], uint8 min[8][32], half d[32], half dmin[32]
 *   Q5_K          nibble, bit plane; scales as Q4_K
 *   Q6_K          nibble, two-bit planes; int8 scale[16][32], half d[32]
 *   Q3_K          two-bit, bit plane; int8 scale[16][32] (32 taken off), half d[32]
 *   Q2_K          two-bit planes; uint8 scale | min << 4 [16][32], half d[32], half dmin[32]
 *   IQ4_XS        nibble planes; int8 scale[8][32] (32 taken off), half d[32]
 *
 * Codebook types have an index for each point of 8 elements, or of 4 (IQ3), and planes of other sizes: the indexes' low
 * bytes [points][32 rows]; the elements' signs, a bit plane as above, in whose bits of the 8th of each 8 elements other
 * bits stand where the sign follows from the other seven; and the indexes' high bits, `h` for each point.
 *
 *   IQ2_XXS, IQ3_XXS  indexes, signs with bits of a scale s; half d[32]
 *   IQ2_XS        indexes, signs with h; uint8 s | s << 4 [8][32], half d[32]
 *   IQ2_S         indexes, signs, 2 bits h of 4 points [32]; uint8 s | s << 4 [8][32], half d[32]
 *   IQ3_S         indexes, signs, 1 bit h of 8 points [32]; uint8 s | s << 4 [4][32], half d[32]
 *   IQ1_S, IQ1_M  indexes, of two points each 3 bits h and a further one [2][32], which is a bit of the scale s, and of
 *                 the last point the shift (IQ1_S), or a shift; IQ1_M: low bits of 4 scales s [4][32], high bits [2][32];
 *                 half d[32]
 *
 * Types of ik_llama.cpp have planes, the bytes of a block that hold scales and choices of tables (choices.h), as the file has
 * them: [bytes][32], and half d[32]; or, where a whole row has one scale, float d[32] behind a panel's last unit.
 *
 *   IQ2_K, IQ2_KS  two-bit planes                           IQ3_K, IQ3_KS  two-bit, bit plane
 *   IQ4_K, IQ4_KS, IQ4_KSS  nibble planes                   IQ5_K, IQ5_KS  nibble, bit plane
 *   IQ6_K         nibble, two-bit planes
 *
 *   F16           [k][32] half                               BF16   [k/2][32][2], k padded to 32
 *
 * Results. x is (m, k) float32, out (m, n) float32, both dense. A token's outputs do not depend on the other tokens
 * of the call, nor on m. Blocks quantize each token's x by groups of 32, by the largest magnitude in each, and add up
 * the groups' exact sums in float32 in the order of k (mins first, by blocks of 256; types whose scales are integers
 * first add those of a block), so they give the same bits with every instruction set but the portable one, which does without fused
 * multiply-add; bf16 and f16 differ between sets. A NaN or an infinity in a token's x makes all of that token's
 * outputs NaN, and no other's.
 *
 * Functions return 0 or one of the codes below.
 */
#ifndef TENON_H
#define TENON_H

#include <stdint.h>

#if defined(_WIN32)
#define TENON_API __declspec(dllexport)
#else
#define TENON_API __attribute__((visibility("default")))
#endif

enum { TENON_VERSION = 26, TENON_NO_MEMORY = 1, TENON_UNKNOWN = 2, TENON_NOT_FINITE = 3,
       TENON_STOPPED = 4 };

/* GGML's numbers of the types. */
enum {
    TENON_F16 = 1, TENON_Q4_0 = 2, TENON_Q4_1 = 3, TENON_Q5_0 = 6, TENON_Q5_1 = 7, TENON_Q8_0 = 8, TENON_Q2_K = 10,
    TENON_Q3_K = 11, TENON_Q4_K = 12, TENON_Q5_K = 13, TENON_Q6_K = 14, TENON_IQ4_NL = 20, TENON_IQ4_XS = 23,
    TENON_BF16 = 30, TENON_TQ1_0 = 34, TENON_TQ2_0 = 35, TENON_MXFP4 = 39, TENON_NVFP4 = 40, TENON_Q1_0 = 41,
    TENON_Q2_0 = 42,
    TENON_IQ2_XXS = 16, TENON_IQ2_XS = 17, TENON_IQ3_XXS = 18, TENON_IQ1_S = 19, TENON_IQ3_S = 21, TENON_IQ2_S = 22,
    TENON_IQ1_M = 29,
    TENON_PQ2_0 = 142, TENON_PTQ1_0 = 143,      /* PrismML's */
    TENON_IQ2_K = 137, TENON_IQ3_K = 138, TENON_IQ4_K = 139, TENON_IQ5_K = 140, TENON_IQ6_K = 141,  /* ik_llama.cpp's */
    TENON_IQ4_KS = 144, TENON_IQ2_KS = 145, TENON_IQ4_KSS = 146, TENON_IQ5_KS = 152, TENON_IQ3_KS = 156,
    TENON_TYPES = 157
};

/* Changes whenever a packed layout or a signature does. */
TENON_API int32_t tenon_version(void);

/* Takes the best instruction set that this machine has and that is not above `cap` (NULL: none), and names it;
 * NULL when the cap's name is not known. Not to be called while another thread multiplies. */
TENON_API const char *tenon_select(const char *cap);

/* The instruction set's name by index from the lowest, NULL after the last; `usable` says whether it can run here. */
TENON_API const char *tenon_instruction_set(int32_t index, int32_t *usable);

/* Uses this set, where the cap admits it, for products of a type with 2^width_log2 tokens up to the next power of two
 * (6: and all above); NULL goes back to the highest. It is the caller's part to prefer only sets with the same results.
 * TENON_UNKNOWN for a set, type or width that is not known here. */
TENON_API int32_t tenon_prefer(int32_t type, int32_t width_log2, const char *name);

/* How long an idle worker spins before it sleeps. */
TENON_API void tenon_set_spin(int64_t microseconds);

struct tenon_matrix {
    const void *packed;         /* arranged */
    const float *bias;          /* (n) or NULL */
    int64_t n, k;
    int32_t type;
    float refined_above;        /* of blocks: a group's activations are sums of two 8-bit numbers where its largest is
                                 * above so many times the mean of the groups' largest; 0: all, INFINITY: none. Below 0, of
                                 * tenon_matmul alone: all, of the outputs that are so much below the row's largest at
                                 * most and of their panels, and none of the others */
    /* The input is rotated before it is multiplied, place i of it being signs[i] times the input's order[i] (or i), and
     * then each `rotated` places, a power of two, by the Walsh-Hadamard matrix. 0: it is not. */
    const float *signs;         /* (k), with the matrix's norm multiplied in */
    const int32_t *order;       /* (k) or NULL */
    int64_t rotated;
    const float *factor;        /* multiplies all outputs before the bias is added; or NULL */
    const float *bounds;        /* (4): least and most of each input, then of each output; or NULL. Not with a rotation */
};

/* Rotates a row in place: each `width` places, a power of two, by the Walsh-Hadamard matrix, whose entries are 1 and -1. */
TENON_API void tenon_hadamard(float *x, int64_t k, int64_t width);

/* out (m, n) = x (m, k) times the matrix's transpose, plus the bias. */
TENON_API int32_t tenon_matmul(const struct tenon_matrix *matrix, const float *x, int64_t m, float *out,
                               int32_t threads);

/* Bytes of a matrix (n, k) of a GGUF type arranged for the kernels; -1: an unknown type, or k is no multiple of its
 * block. */
TENON_API int64_t tenon_arranged_bytes(int32_t type, int64_t n, int64_t k);

/* Rearranges dense GGUF rows (n, k) into panels; no value changes. row_map: the source's row for each row, or NULL.
 * TENON_NOT_FINITE where a scale, a minimum or a plain number is a NaN or an infinity; all is arranged then too. */
TENON_API int32_t tenon_arrange(int32_t type, const void *rows, int64_t n, int64_t k, const int32_t *row_map,
                                void *out, int32_t threads);

/* Rows of an arranged matrix as floats (count, k); first_row is a multiple of 32. */
TENON_API int32_t tenon_unpack(int32_t type, const void *arranged, int64_t n, int64_t k, int64_t first_row,
                               int64_t count, float *out);

/* Dense GGUF rows as floats (count, k), bit for bit as the package gguf has them but for which NaN a NaN is; rows:
 * which, or NULL for 0 to count - 1. */
TENON_API int32_t tenon_dequantize(int32_t type, const void *raw, int64_t k, const int64_t *rows, int64_t count,
                                   float *out, int32_t threads);

/* Floats (n, k) into F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL or IQ4_XS; importance: how much an error in each
 * column counts (k), or NULL. TENON_UNKNOWN for another type; TENON_NOT_FINITE for a NaN, an infinity, or what would become one. */
TENON_API int32_t tenon_quantize(int32_t type, const float *x, const float *importance, int64_t n, int64_t k, void *raw,
                                 int32_t threads);

/* Keys and values: bfloat16, or 8 bits: per row and head a byte per channel, then a bfloat16 scale per 32 channels. */
enum { TENON_CACHE_BF16 = 0, TENON_CACHE_8_BITS = 1 };

/* Clamped: min(gate, 7) * sigmoid(1.702 min(gate, 7)) * (up within -7 and 7, and 1 more), gpt-oss's. */
enum { TENON_SILU = 0, TENON_GELU_TANH = 1, TENON_GELU = 2, TENON_CLAMPED_SWIGLU = 3,
       TENON_RELU2 = 4 /* without a second map */ };

enum { TENON_SOFTMAX = 0, TENON_SIGMOID = 1, TENON_MOST_GROUPS = 64 };

/* Experts of a layer's feed-forward network. Those of the largest scores are chosen, and what they give is added up by
 * weights: the scores' shares, of all experts or of the chosen ones, or the scores themselves. */
struct tenon_mixture {
    int64_t experts, chosen;
    int64_t groups, chosen_groups;  /* experts are chosen from the best of so many groups of neighbours */
    int64_t group_scores;       /* a group counts by the sum of so many of its largest scores: 1 or 2 */
    /* (experts) each, alike but for their numbers; up as in a layer. */
    const struct tenon_matrix *gate, *up, *down;
    struct tenon_matrix router;
    struct tenon_matrix shared_gate;    /* a number whose sigmoid multiplies the layer's own network; n is 0: none */
    const float *correction;    /* (experts): added to scores for the choice alone; or NULL */
    const float *expert_scale;  /* (experts): multiplies weights; or NULL */
    float scale;                /* of the weights */
    float sum_floor;            /* added to a sum that weights are divided by */
    int32_t scores;             /* of logits: the softmax or each one's sigmoid */
    int32_t normalised;         /* the chosen experts' weights are divided by their sum */
    /* (3 + chosen), or NULL: choices of tokens behind another one of a text, those of them that the other had made too,
     * whether the last forward's token was alone, and its experts. Counted where one text's new rows are a chain. */
    int64_t *repeats;
};

/* Attention over latents: keys and values of all heads are maps of one row, which is cached in the layer's only key-value
 * head: rank channels, and behind them those that are rotated, head_dim in all. The layer's q maps to the queries, or to
 * what query_up maps to them, each head's rotated channels behind the others; its k to the row; query_norm and key_norm
 * are of what query_up maps and of the rank channels. */
struct tenon_latents {
    int64_t rank;
    struct tenon_matrix query_up;           /* n is 0: there is none */
    const struct tenon_matrix *key_up;      /* (heads), alike but for their numbers: a query's plain channels -> rank */
    const struct tenon_matrix *value_up;    /* (heads), likewise: rank -> a head's values */
    float query_floor, key_floor;           /* of the norms */
    int32_t interleaved;        /* channels 2i and 2i + 1 turn into each other; they are cached as halves */
};

/* Gated DeltaNet. The layer's q maps to queries, keys and values, and its k to output gates, or its q to both, joined by
 * key heads; its v and `more` map to gates of writing and of decay, v to both if they are paired by key heads. Or
 * Mamba-2, whose B, C and x are keys, queries and values: q maps to output gates, values, keys, queries and times.
 * Widths are multiples of 16. */
enum { TENON_MEMORY_CHUNK = 16, TENON_MOST_TAPS = 64, TENON_MOST_MARKS = 8 };
struct tenon_memory {
    int64_t key_heads, heads, key_dim, value_dim;
    int64_t width;              /* inputs of the convolution before a row's own */
    const float *kernel;        /* (width + 1, channels), the row's own last */
    const float *bias;          /* (channels) */
    const float *gains;         /* (2, key_dim): of queries and of keys */
    const float *decay, *decay_bias;    /* (heads) */
    const float *skip;          /* (heads): Mamba-2's share of a value that is a row's own; NULL: gated DeltaNet */
    const float *norm;          /* (value_dim), or Mamba-2's (heads, value_dim): a gain, as a layer's */
    float norm_floor;
    struct tenon_matrix more;
    int32_t tiled;              /* head h of values has the queries and keys of head h modulo key_heads */
    int32_t joined, paired;
};

/* What a layer keeps of a text from a boundary on, each TENON_MEMORY_CHUNK tokens. */
struct tenon_frame {
    int64_t base;               /* tokens before the boundary */
    float *inputs;              /* (width + rows, channels), of which width lie before it */
    float *state;               /* (heads, key_dim, value_dim) at it */
    float *keys, *values, *decays;  /* (rows, key_heads, key_dim), (rows, heads, value_dim), (rows, heads) */
};

/* What a layer keeps of a text. A piece of a prompt (is_long) goes on from the first frame, and leaves the others what
 * has changed, `current` says which; a frame of it has room for a chunk. */
struct tenon_text_memory {
    struct tenon_frame frames[3];
    int32_t current, is_long;
    int64_t marks;              /* boundaries on the way at which the state is wanted too */
    int64_t mark[TENON_MOST_MARKS];
    float *mark_inputs[TENON_MOST_MARKS], *mark_states[TENON_MOST_MARKS];
};

/* The state (heads, key_dim, value_dim) behind a chunk of a frame's rows; it may be the frame's own. */
TENON_API void tenon_add_chunk(const struct tenon_memory *memory, const struct tenon_frame *frame, int64_t first,
                               float *state, int32_t threads);

/* Keys and values: a layer's own; values that are what keys were mapped to; another layer's, whose cache it is given. */
enum { TENON_OWN_KEYS = 0, TENON_KEYS_ARE_VALUES = 1, TENON_SHARED_KEYS = 2 };

/* The weights of one decoder layer. Norms are gains, the square root of their width multiplied in; a floor is their
 * epsilon times their width. Heads are a multiple of 16 channels wide. */
struct tenon_layer {
    int64_t hidden, heads, kv_heads, head_dim;
    const float *mlp_norm;
    /* Added behind these norms, which then take the mean off first (norms of layers); or NULL, both. */
    const float *attention_shift, *mlp_shift;
    const float *attention_norm, *query_norm, *key_norm, *attention_end_norm, *mlp_end_norm, *value_norm;   /* or NULL */
    const float *sinks;         /* (heads): scores that take a share of a head's attention and give nothing; or NULL */
    /* Of router and experts that take the residual stream beside the network, and of what each gives; or NULL, all. */
    const float *router_norm, *experts_norm, *network_end_norm, *experts_end_norm;
    const float *input_norm;    /* behind input_projection */
    const float *scalar;        /* multiplies what the layer gives; or NULL */
    /* n is 0 where the rows are those of the matrix before: of k and v in q, of up in gate; of up where the activation is
     * all (gate's n is down's k); and of gate, up and down where there are experts alone. */
    struct tenon_matrix q, k, v, output, gate, up, down;
    /* What a layer's own input adds: projection of activation(gate of the hidden state) * input; n is 0: there is none. */
    struct tenon_matrix input_gate, input_projection;
    struct tenon_matrix attention_gate;     /* maps to gates whose sigmoid multiplies each channel or each head of
                                             * attention's result: n is heads * head_dim, heads, or 0 for none */
    const struct tenon_mixture *mixture;    /* or NULL */
    const struct tenon_latents *latents;    /* or NULL */
    const struct tenon_memory *memory;      /* in attention's place, or NULL */
    float norm_floor, head_norm_floor, end_norm_floor;
    float scale;                /* of the scores */
    float soft_cap;             /* of the scores; 0: none */
    float residual_scale;       /* of what attention and the network add */
    int32_t activation;
    int32_t keys;
    int32_t gated;              /* each query's rows are followed by those whose sigmoid multiplies what it gets */
};

/* New rows of one text, which stand behind each other among a forward's. In the text's cache they are written behind
 * the committed rows and those that earlier forwards left pending. */
struct tenon_text {
    int64_t rows;               /* new ones */
    int64_t length, pending;    /* committed rows, and uncommitted rows written before */
    int64_t capacity;           /* rows that a head's keys or values have room for */
    int64_t ancestors_stride;
    const int32_t *depths;      /* (rows): uncommitted rows that a row sees, its own included */
    const int32_t *ancestors;   /* (rows, ancestors_stride): which, counted from the committed ones; NULL: a chain */
    const int32_t *ahead;       /* (rows): how many of them, the last, follow the row: a picture's rows; NULL: none */
};

/* What the layers of one forward share. */
struct tenon_step {
    int64_t m;                  /* new rows of all texts */
    int64_t texts;
    const struct tenon_text *text;
    int64_t window;             /* positions that a row sees, its own included; 0: all */
    int64_t rotated;            /* channels of a head that are rotated */
    const float *cosine, *sine; /* (m, rotated): [cos, cos], [-sin, sin] */
    const float *query_factors; /* (m): of a row's queries, or NULL */
    const float *inputs;        /* (m, layers, input_gate.n), rows inputs_stride apart: the layers' own; or NULL */
    int64_t inputs_stride;
    int32_t cache_type;
};

/* Bytes of scratch memory, aligned to 64, that this forward takes. */
TENON_API int64_t tenon_layer_scratch_bytes(const struct tenon_layer *layer, const struct tenon_step *step,
                                            int32_t threads);

/* hidden (m, hidden) in place. Each text's cache is an array of its layers' rows, of which `index` is this layer's: keys
 * (kv_heads, capacity, head_dim) of the step's type, and the values behind them; or a tenon_text_memory. A row's result
 * depends on its own path alone: not on the other rows, be they its text's or another's, nor on m, nor on which of its
 * ancestors are committed. */
TENON_API void tenon_layer_forward(const struct tenon_layer *layer, const struct tenon_step *step,
                                   void *const *const *caches, int64_t index, float *hidden, uint8_t *scratch,
                                   int32_t threads);

/* The same in two halves, for a layer with experts of which those that were not chosen may be elsewhere: up to the
 * choice, which is returned, (m, chosen), in scratch memory; and what follows it. Both halves take the same arguments,
 * and nobody else the scratch memory between them. */
TENON_API const int32_t *tenon_layer_choose(const struct tenon_layer *layer, const struct tenon_step *step,
                                            void *const *const *caches, int64_t index, float *hidden,
                                            uint8_t *scratch, int32_t threads);
TENON_API void tenon_layer_mix(const struct tenon_layer *layer, const struct tenon_step *step,
                               void *const *const *caches, int64_t index, float *hidden, uint8_t *scratch,
                               int32_t threads);

/* A layer's experts alone: out (m, hidden) of the normed rows (m, hidden), by the experts (m, chosen) that each has
 * chosen and their weights. Scratch memory is aligned to 64. */
TENON_API int64_t tenon_experts_scratch_bytes(const struct tenon_mixture *mixture, int64_t m);
TENON_API void tenon_experts(const struct tenon_mixture *mixture, int32_t activation, const float *rows, int64_t m,
                             const int32_t *choice, const float *weight, float *out, uint8_t *scratch,
                             int32_t threads);

/* Layers that follow each other in memory, and what is behind the last. */
struct tenon_model {
    int64_t layers, hidden;
    const struct tenon_layer *const *layer;
    const int32_t *kind;        /* (layers): which of a pass's steps is a layer's */
    const float *final_norm;    /* as a layer's, or NULL */
    float norm_floor;
    struct tenon_matrix head;
    struct tenon_matrix join;   /* what enters the first layer from rows that are given; n is 0 where these enter it */
};

/* One forward. */
struct tenon_pass {
    const struct tenon_step *steps;
    void *const *const *caches; /* (texts, layers): of each text and layer the keys, and the values behind them */
    float *const *inputs;       /* (layers): where a layer's input is copied to, or NULL; NULL: none is wanted */
    const float *given;         /* (m, join.k), where the model joins rows */
    float *hidden;              /* (m, hidden): in, where it does not, and changed */
    float *normed;              /* (m, hidden): out, behind the final norm; only with one */
    float *logits;              /* (count, head.n): out, of count rows from first on */
    int64_t m, first, count;
    int32_t (*stop)(void);      /* or NULL; asked between layers, at most every few milliseconds, whether to stop */
};

/* Bytes of scratch memory, aligned to 64, that this forward takes. */
TENON_API int64_t tenon_forward_scratch_bytes(const struct tenon_model *model, const struct tenon_pass *pass,
                                              int32_t threads);

/* All layers, the final norm and the head: each gives what it gives in a call of its own. TENON_STOPPED where it was
 * stopped; TENON_NO_MEMORY. */
TENON_API int32_t tenon_forward(const struct tenon_model *model, const struct tenon_pass *pass, uint8_t *scratch,
                                int32_t threads);

/* Medusa heads, each of which maps x to x + silu(W x + b) some times, then to logits. */
struct tenon_heads {
    struct tenon_matrix first;          /* the first block of all heads: (heads * k, k) */
    const struct tenon_matrix *further; /* (heads, blocks - 1) */
    const struct tenon_matrix *maps;    /* one for all, or one for each */
    int64_t blocks, own_maps;
};

/* Logits (count, n) of the first heads for a row x; scratch holds (heads + 1) * k floats. 0 or TENON_NO_MEMORY. */
TENON_API int32_t tenon_guess(const struct tenon_heads *heads, const float *x, int64_t count, float *scratch,
                              float *logits, int32_t threads);

/* Brings uncommitted rows to the front, behind the committed ones: rows says which, counted from there, in rising
 * order. heads: of keys and values together. */
TENON_API void tenon_move_rows(void *const *caches, int64_t layers, int64_t heads, int64_t head_stride,
                               int64_t row_bytes, int64_t length, const int64_t *rows, int64_t count);

/* Of each row of logits (rows, n) the `count` largest, at most n and 64: their tokens, largest first and of equal ones
 * the first, and the logarithms of their shares at a temperature above 0. Where there is a NaN, or no finite largest
 * logit, all are minus infinity. */
TENON_API void tenon_likeliest(const float *logits, int64_t rows, int64_t n, int64_t count, float temperature,
                               int32_t *tokens, float *values);

/* Bytes of scratch memory, aligned to 8, for a vocabulary of n tokens. */
TENON_API int64_t tenon_sample_scratch_bytes(int64_t n);

/* The token drawn from logits (n) after repetition penalty, temperature, top-k, top-p and min-p, in this order and
 * with the meaning that transformers' processors give them: the one whose share of the weights, added up in the order
 * of tokens, holds the noise. Temperature 0 takes the first largest logit; top_k 0, top_p 1, min_p 0 and penalty 1
 * change nothing. seen: tokens that are penalised, in any order and as often as they come. noise is in [0, 1).
 * -1 where there is a NaN, or no finite largest logit to compare with. */
TENON_API int64_t tenon_sample(const float *logits, int64_t n, double temperature, int64_t top_k, double top_p,
                               double min_p, double penalty, const int32_t *seen, int64_t seen_count, double noise,
                               uint8_t *scratch);

#endif
