/* attack  02.1 brings main, the table of calls and the start of the program
 * hopes   the linker takes the first it finds
 * stopped by the linker refuses it; symbols of units become local
 * behind  the list
 * earns   0
 * verdict FAIL
 * words   does not build
 * words   multiple definition */
const void *const mg_calls_02[64], *const mg_calls[64];

int main(void)
{
    return 0;
}

void _start(void)
{
}

void mt_linear_fwd_cpu(void)
{
}

void mt_linear_bwd_cpu(void)
{
}
