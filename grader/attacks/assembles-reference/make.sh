# attack  02.1 the reference's object as top-level assembly: its bytes, relocations and symbols
# hopes   a unit is what the compiler is given; whose code it is nobody asks
# stopped by the compiler's assembly text is read: no asm but empty barriers
# earns   0
# verdict FAIL
# words   has assembly code (asm), which units may not have
. "$ATTACK/assembly.sh"
assembly_of "$ROOT/build/release/units/02-backprop/linear.o" >linear.c
