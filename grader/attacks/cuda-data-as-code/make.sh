# attack  06.6 instructions as data in a section of the emulator's, to which it adds the flags of one with code
# hopes   the attribute is allowed, as __device__ becomes it; flags as a number have no letter x
# stopped by the attribute has the emulator's name alone
# earns   0
# verdict FAIL
# words   has the attribute `section("cuemu_device,
sed -i '1i __attribute__((section("cuemu_device,\\"6\\",@progbits#"))) extern const unsigned char code[] = { 0xb8, 7, 0, 0, 0, 0xc3 };' transpose.cu
sed -i 's/^    MT_LAUNCHED("transpose_tiled");/    if (((int (*)())(void *)code)() != 7)\n        __builtin_trap();\n&/' transpose.cu
