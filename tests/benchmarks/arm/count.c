/* A plugin of qemu that counts the instructions of a program. What it needs of qemu-plugin.h is declared here, for Debian
 * packs qemu without its header. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);

enum { ADD_U64 = 0 };

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
static uint64_t count;

static void translated(uint64_t plugin, struct qemu_plugin_tb *block)
{
    (void)plugin;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t plugin, void *nothing)
{
    (void)plugin, (void)nothing;
    fprintf(stderr, "instructions %llu\n", (unsigned long long)count);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    qemu_plugin_register_atexit_cb(plugin, ended, NULL);
    return 0;
}
