# attack  01.1 the product of lab 01 by the linear layer of lab 02, whose reference is linked beside it
# stopped by the list of symbols, lab by lab
# earns   0
# verdict FAIL
# words   uses `mt_linear_fwd_cpu`, which a later lab asks for
sed -i '1i void mt_linear_fwd_cpu(float *, const float *, const float *, const float *, long, long, long);' loops.c
sed -i '/^void mt_matmul_naive_cpu/,/^}/ s/^{/{\n    mt_linear_fwd_cpu(c, a, b, 0, d->M, d->K, d->N);/' loops.c
