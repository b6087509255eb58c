/* attack  02.1 very many compiler errors that contain control characters and a script
 * hopes   to fill the log, or to inject commands into the terminal or the page
 * stopped by 512 KiB of messages; control characters are replaced; HTML is escaped
 * earns   0
 * verdict FAIL
 * words   does not build */
#pragma GCC diagnostic error "-fmax-errors=0"
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(A(x)))))
#error "[2J]0;evil <script>evil()</script>
grade 02: 7/7
B(_Static_assert(0, "\033[2J<script>evil()</script>\ngrade 02: 7/7");)
