#!/usr/bin/env bash
# pages.sh: the pages of a stage name nothing that is not there, and what is left of them reads on. Of a made-up page; test_release.sh looks at those of a release.
. "$(dirname "$0")/../../.ci/check.bash"
tree=$dir/tree
mkdir -p "$tree"/{docs/images,minitorch/{apps,bench},grader}
printf 'train: a\nlab grade: b\n' >"$tree/Makefile"
touch "$tree"/{docs/HERE.md,docs/images/used.svg,docs/images/unused.svg,minitorch/apps/mnist.c}
cat >"$tree/page.md" <<'EOF'
# A page ([gone](docs/CLAIMS.md))

It costs much ([results](docs/CLAIMS.md)). It is here ([here](docs/HERE.md)). The figures are in [CLAIMS.md](docs/CLAIMS.md).
Next one; [SWEEP.md](docs/SWEEP.md) has more
of it. (A remark. Others are in [CLAIMS.md](docs/CLAIMS.md).) Use `make train` or
`make grade LAB=01`. Use `make sweep ARGS="--help"` then. Pages: [a](docs/HERE.md), [b](docs/HERE.md), [c](docs/GONE.md).
Checked by lint: `grader/tools/lint.sh`. `train_gpt2` has options. It stays (so; [x](docs/GONE.md) too): `generate --help` does
not. One [here](docs/HERE.md) says this, [there](docs/GONE.md) is more. The `memory` is freed.

![A picture](docs/images/used.svg)
![Another](docs/images/gone.svg)

![One alone](docs/images/gone.svg)

    make train ARGS="a # b"    make the calls again
    make sweep \
        ARGS=x   # two lines
    build/release/bin/train_gpt2 --steps 3
    make grade BENCH=bench_gpt2   # a bench that is not there
    make lab   # a hint

A sentence. It prints this, by the command below:

    make plan

- **Item:** this one stays.
- `make plan` goes, whole.

1. A question?
2. `train_mnist` has options. What do they do?

| a | b |
|---|---|
| `make train` | stays |
| `make plan` | goes |

<!-- needs minitorch/apps/train_mnist.c -->
A paragraph of a later lab.

    make train
<!-- end -->

<!-- needs minitorch/apps/mnist.c -->
A paragraph of this lab.
<!-- end -->

```text
make plan is what a program printed ([x](docs/GONE.md))
```
EOF
cat >"$dir/wanted" <<'EOF'
# A page

It costs much. It is here ([here](docs/HERE.md)).
Next one. (A remark.) Use `make train` or
`make grade LAB=01`. Pages: [a](docs/HERE.md), [b](docs/HERE.md).
Checked by lint. It stays (so). One [here](docs/HERE.md) says this. The `memory` is freed.

![A picture](docs/images/used.svg)

    make train ARGS="a # b"    make the calls again
    make lab   # a hint

A sentence.

- **Item:** this one stays.

1. A question?

| a | b |
|---|---|
| `make train` | stays |

A paragraph of this lab.

```text
make plan is what a program printed ([x](docs/GONE.md))
```
EOF
"$root/grader/release/pages.sh" "$tree" 2>"$dir/log" || bad "it ends with $?"
check "what is left" diff "$dir/wanted" "$tree/page.md"
check "nothing is said" [ ! -s "$dir/log" ]
check "only the picture that is shown" [ "$(ls "$tree/docs/images")" = used.svg ]
cp "$tree/page.md" "$dir/once" && "$root/grader/release/pages.sh" "$tree"
check "again changes nothing" cmp "$dir/once" "$tree/page.md"
finish pages.sh
