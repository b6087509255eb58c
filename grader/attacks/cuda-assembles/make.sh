# attack  06.1 a launcher whose host code is assembly, at the top of the unit, beside a kernel that does nothing
# hopes   inline PTX is allowed in .cu units, and so all assembly is
# stopped by PTX of device code is translated; what is left for the assembler is refused
# earns   0
# verdict FAIL
# words   assembler outside of device code is not supported
cat >>saxpy.cu <<'C'
__asm__(".globl more\nmore: ret");
C
