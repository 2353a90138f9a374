// Code that forwards a call of any signature. A hooked method's implementation is one of kStubs
// pre-assembled stubs, so that no code is made at run time, which macOS would not let everybody do.
// A stub says which one it is by its address; the body saves what arguments may be in and calls
// mpsprobe_observer_forward, which calls the original through mpsprobe_observer_call. Both keep to
// the unwinder's rules: exceptions pass.
#define MPSPROBE_TEXT_OF(x) #x
#define MPSPROBE_TEXT(x) MPSPROBE_TEXT_OF(x)
#define MPSPROBE_SYMBOL(name) MPSPROBE_TEXT(__USER_LABEL_PREFIX__) name
#ifdef __APPLE__
#define MPSPROBE_FUNCTION(name)                                                                    \
  ".private_extern " MPSPROBE_SYMBOL(name) "\n.globl " MPSPROBE_SYMBOL(name) "\n" MPSPROBE_SYMBOL( \
      name) ":\n"
#define MPSPROBE_SECTION ".section __TEXT,__text,regular,pure_instructions\n"
#else
#define MPSPROBE_FUNCTION(name) \
  ".hidden " name "\n.globl " name "\n.type " name ",%function\n" name ":\n"
#define MPSPROBE_SECTION ".text\n"
#endif

#if defined(__x86_64__)

// clang-format off
__asm__(MPSPROBE_SECTION
  ".p2align 4\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_stubs")
  ".rept 4096\n"
  "  .byte 0xf3,0x0f,0x1e,0xfa\n"                   // endbr64
  "  .byte 0x4c,0x8d,0x1d,0,0,0,0\n"                // lea 0(%rip), %r11: the stub's address + 11
  "  .byte 0xe9\n"                                  // jmp body, always with 4 bytes
  "  .long " MPSPROBE_SYMBOL("mpsprobe_observer_body") " - . - 4\n"
  ".endr\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_body")
  "  .cfi_startproc\n"
  "  pushq %rbp\n"
  "  .cfi_def_cfa_offset 16\n"
  "  .cfi_offset %rbp, -16\n"
  "  movq %rsp, %rbp\n"
  "  .cfi_def_cfa_register %rbp\n"
  "  subq $240, %rsp\n"
  "  movq %rdi, 0(%rsp)\n"
  "  movq %rsi, 8(%rsp)\n"
  "  movq %rdx, 16(%rsp)\n"
  "  movq %rcx, 24(%rsp)\n"
  "  movq %r8, 32(%rsp)\n"
  "  movq %r9, 40(%rsp)\n"
  "  movq %rax, 48(%rsp)\n"
  "  movq %r10, 56(%rsp)\n"
  "  movaps %xmm0, 80(%rsp)\n"
  "  movaps %xmm1, 96(%rsp)\n"
  "  movaps %xmm2, 112(%rsp)\n"
  "  movaps %xmm3, 128(%rsp)\n"
  "  movaps %xmm4, 144(%rsp)\n"
  "  movaps %xmm5, 160(%rsp)\n"
  "  movaps %xmm6, 176(%rsp)\n"
  "  movaps %xmm7, 192(%rsp)\n"
  "  leaq 16(%rbp), %rax\n"
  "  movq %rax, 208(%rsp)\n"
  "  movq 8(%rbp), %rax\n"
  "  movq %rax, 216(%rsp)\n"
  "  movq 0(%rbp), %rax\n"
  "  movq %rax, 224(%rsp)\n"
  "  leaq " MPSPROBE_SYMBOL("mpsprobe_observer_stubs") "(%rip), %rax\n"
  "  subq %rax, %r11\n"
  "  shrq $4, %r11\n"
  "  movl %r11d, %edi\n"
  "  movq %rsp, %rsi\n"
  "  callq " MPSPROBE_SYMBOL("mpsprobe_observer_forward") "\n"
  "  movq 0(%rsp), %rax\n"
  "  movq 8(%rsp), %rdx\n"
  "  movaps 80(%rsp), %xmm0\n"
  "  movaps 96(%rsp), %xmm1\n"
  "  leave\n"
  "  .cfi_def_cfa %rsp, 8\n"
  "  retq\n"
  "  .cfi_endproc\n"
  // void mpsprobe_observer_call(Frame* frame, function, size_t stack_bytes)
  ".p2align 4\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_call")
  "  .cfi_startproc\n"
  "  pushq %rbp\n"
  "  .cfi_def_cfa_offset 16\n"
  "  .cfi_offset %rbp, -16\n"
  "  movq %rsp, %rbp\n"
  "  .cfi_def_cfa_register %rbp\n"
  "  pushq %rbx\n"
  "  .cfi_offset %rbx, -24\n"
  "  pushq %rbx\n"                                  // for the alignment
  "  movq %rdi, %rbx\n"
  "  movq %rsi, %r11\n"
  "  subq %rdx, %rsp\n"
  "  movq 208(%rbx), %rsi\n"
  "1: testq %rdx, %rdx\n"
  "  jz 2f\n"
  "  movq -8(%rsi,%rdx), %rax\n"
  "  movq %rax, -8(%rsp,%rdx)\n"
  "  subq $8, %rdx\n"
  "  jmp 1b\n"
  "2: movq 0(%rbx), %rdi\n"
  "  movq 8(%rbx), %rsi\n"
  "  movq 16(%rbx), %rdx\n"
  "  movq 24(%rbx), %rcx\n"
  "  movq 32(%rbx), %r8\n"
  "  movq 40(%rbx), %r9\n"
  "  movq 48(%rbx), %rax\n"
  "  movq 56(%rbx), %r10\n"
  "  movaps 80(%rbx), %xmm0\n"
  "  movaps 96(%rbx), %xmm1\n"
  "  movaps 112(%rbx), %xmm2\n"
  "  movaps 128(%rbx), %xmm3\n"
  "  movaps 144(%rbx), %xmm4\n"
  "  movaps 160(%rbx), %xmm5\n"
  "  movaps 176(%rbx), %xmm6\n"
  "  movaps 192(%rbx), %xmm7\n"
  "  callq *%r11\n"
  "  movq %rax, 0(%rbx)\n"
  "  movq %rdx, 8(%rbx)\n"
  "  movaps %xmm0, 80(%rbx)\n"
  "  movaps %xmm1, 96(%rbx)\n"
  "  movq -8(%rbp), %rbx\n"
  "  leave\n"
  "  .cfi_def_cfa %rsp, 8\n"
  "  retq\n"
  "  .cfi_endproc\n");
// clang-format on

#elif defined(__aarch64__)

#if defined(__arm64e__)
#define MPSPROBE_SIGN "  pacibsp\n"
#define MPSPROBE_RETURN "  retab\n"
#define MPSPROBE_CALL_X9 "  blraaz x9\n"
#else
#define MPSPROBE_SIGN "  nop\n"
#define MPSPROBE_RETURN "  ret\n"
#define MPSPROBE_CALL_X9 "  blr x9\n"
#endif
#ifdef __APPLE__
#define MPSPROBE_ADDRESS(register, name)   \
  "  adrp " register ", " MPSPROBE_SYMBOL( \
      name) "@PAGE\n  add " register ", " register ", " MPSPROBE_SYMBOL(name) "@PAGEOFF\n"
#else
#define MPSPROBE_ADDRESS(register, name) \
  "  adrp " register ", " name "\n  add " register ", " register ", :lo12:" name "\n"
#endif
#ifdef __arm64e__
#define MPSPROBE_CFI_SIGNED "  .cfi_b_key_frame\n"
#define MPSPROBE_CFI_NEGATE "  .cfi_negate_ra_state\n"
#else
#define MPSPROBE_CFI_SIGNED ""
#define MPSPROBE_CFI_NEGATE ""
#endif

// clang-format off
__asm__(MPSPROBE_SECTION
  ".p2align 4\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_stubs")
  ".rept 4096\n"
  "  hint #34\n"                                    // bti c
  "  adr x16, .\n"                                  // the stub's address + 4
  "  b " MPSPROBE_SYMBOL("mpsprobe_observer_body") "\n"
  "  nop\n"
  ".endr\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_body")
  "  .cfi_startproc\n"
  MPSPROBE_CFI_SIGNED
  MPSPROBE_SIGN
  MPSPROBE_CFI_NEGATE
  "  stp x29, x30, [sp, #-16]!\n"
  "  .cfi_def_cfa_offset 16\n"
  "  .cfi_offset x29, -16\n"
  "  .cfi_offset x30, -8\n"
  "  mov x29, sp\n"
  "  .cfi_def_cfa x29, 16\n"
  "  sub sp, sp, #240\n"
  "  stp x0, x1, [sp]\n"
  "  stp x2, x3, [sp, #16]\n"
  "  stp x4, x5, [sp, #32]\n"
  "  stp x6, x7, [sp, #48]\n"
  "  str x8, [sp, #64]\n"
  "  str q0, [sp, #80]\n"
  "  str q1, [sp, #96]\n"
  "  str q2, [sp, #112]\n"
  "  str q3, [sp, #128]\n"
  "  str q4, [sp, #144]\n"
  "  str q5, [sp, #160]\n"
  "  str q6, [sp, #176]\n"
  "  str q7, [sp, #192]\n"
  "  add x9, x29, #16\n"
  "  ldp x11, x10, [x29]\n"
  "  stp x9, x10, [sp, #208]\n"
  "  str x11, [sp, #224]\n"
  MPSPROBE_ADDRESS("x9", "mpsprobe_observer_stubs")
  "  sub x16, x16, x9\n"
  "  lsr x0, x16, #4\n"
  "  mov x1, sp\n"
  "  bl " MPSPROBE_SYMBOL("mpsprobe_observer_forward") "\n"
  "  ldp x0, x1, [sp]\n"
  "  ldr q0, [sp, #80]\n"
  "  ldr q1, [sp, #96]\n"
  "  ldr q2, [sp, #112]\n"
  "  ldr q3, [sp, #128]\n"
  "  mov sp, x29\n"
  "  .cfi_def_cfa sp, 16\n"
  "  ldp x29, x30, [sp], #16\n"
  "  .cfi_def_cfa_offset 0\n"
  MPSPROBE_RETURN
  "  .cfi_endproc\n"
  // void mpsprobe_observer_call(Frame* frame, function, size_t stack_bytes)
  ".p2align 4\n"
  MPSPROBE_FUNCTION("mpsprobe_observer_call")
  "  .cfi_startproc\n"
  MPSPROBE_CFI_SIGNED
  MPSPROBE_SIGN
  MPSPROBE_CFI_NEGATE
  "  stp x29, x30, [sp, #-32]!\n"
  "  .cfi_def_cfa_offset 32\n"
  "  .cfi_offset x29, -32\n"
  "  .cfi_offset x30, -24\n"
  "  mov x29, sp\n"
  "  .cfi_def_cfa x29, 32\n"
  "  str x19, [x29, #16]\n"
  "  .cfi_offset x19, -16\n"
  "  mov x19, x0\n"
  "  mov x9, x1\n"
  "  sub sp, sp, x2\n"
  "  ldr x10, [x19, #208]\n"
  "  mov x11, sp\n"
  "1: cbz x2, 2f\n"
  "  sub x2, x2, #8\n"
  "  ldr x12, [x10, x2]\n"
  "  str x12, [x11, x2]\n"
  "  b 1b\n"
  "2: ldp x0, x1, [x19]\n"
  "  ldp x2, x3, [x19, #16]\n"
  "  ldp x4, x5, [x19, #32]\n"
  "  ldp x6, x7, [x19, #48]\n"
  "  ldr x8, [x19, #64]\n"
  "  ldr q0, [x19, #80]\n"
  "  ldr q1, [x19, #96]\n"
  "  ldr q2, [x19, #112]\n"
  "  ldr q3, [x19, #128]\n"
  "  ldr q4, [x19, #144]\n"
  "  ldr q5, [x19, #160]\n"
  "  ldr q6, [x19, #176]\n"
  "  ldr q7, [x19, #192]\n"
  MPSPROBE_CALL_X9
  "  stp x0, x1, [x19]\n"
  "  str q0, [x19, #80]\n"
  "  str q1, [x19, #96]\n"
  "  str q2, [x19, #112]\n"
  "  str q3, [x19, #128]\n"
  "  ldr x19, [x29, #16]\n"
  "  mov sp, x29\n"
  "  .cfi_def_cfa sp, 32\n"
  "  ldp x29, x30, [sp], #32\n"
  "  .cfi_def_cfa_offset 0\n"
  MPSPROBE_RETURN
  "  .cfi_endproc\n");
// clang-format on

#endif
#ifndef __APPLE__
__asm__(".section .note.GNU-stack,\"\",%progbits\n.text\n");
#endif
