# attack  02.1 each of its units takes long to compile
# hopes   six limits of a minute are six minutes; counted units and links have their own again
# stopped by one limit of processor time on all compiling of a submission
# slow    it takes that limit, half a minute: run it by name
# earns   7
# verdict FAIL
# words   left out, because compiling the units took more than
for unit in *.c; do
    cat >>"$unit" <<'C'
#define S0(i) if (p[i] == a) { a += b * p[a]; p[b] = a; } else b ^= a >> (p[a] & 7);
#define S1(i) S0(i) S0(i + 1) S0(i + 2) S0(i + 3) S0(i + 4) S0(i + 5) S0(i + 6) S0(i + 7)
#define S2(i) S1(i) S1(i + 8) S1(i + 16) S1(i + 24) S1(i + 32) S1(i + 40) S1(i + 48) S1(i + 56)
#define S3(i) S2(i) S2(i + 64) S2(i + 128) S2(i + 192) S2(i + 256) S2(i + 320) S2(i + 384) S2(i + 448)
#define S4(i) S3(i) S3(i + 512) S3(i + 1024) S3(i + 1536) S3(i + 2048)
void slow(volatile int *p, int a, int b);
void slow(volatile int *p, int a, int b)
{
    S4(0)
}
C
done
