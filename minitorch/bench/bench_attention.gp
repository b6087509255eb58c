# bench_attention.gp -- the two pictures of lab 11, from figures in docs/results:   gnuplot minitorch/bench/bench_attention.gp
#   tiles.csv      rows of queries in a tile, bytes over their minimum: lab 11's row "keys and values"
#   attention.csv  tokens, rung, bytes saved, seconds forward and backward: bench_attention --csv and peers/attention_torch.py
set terminal svg size 900,360 font "DejaVu Sans,11" background "white"
set datafile separator ","
set grid lc rgb "#dddddd"
tiles = "docs/results/2026-11-23-tiles.csv"
times = "docs/results/2026-11-23-attention.csv"
T = 1024
minimum = 20 * T * 96 / 1e6 # bytes of qkv and out, as the row counts them

set output "labs/11-fusion/images/tiles.svg"
set title "Bytes of a forward pass (T = 1024, 3 heads of 32 columns) through a cache of 32 KiB" noenhanced
set xlabel "queries in a tile, R"
set ylabel "MB"
set logscale x 2
set xrange [12:170]
set yrange [0:*]
plot minimum * (0.6 + (T + x) / (5 * x)) with lines lw 2 lc rgb "#1f5fa8" title "q and out once, k and v for each tile: 4 T (T + R) D / R", \
     minimum * T / (5 * x) with lines dt 2 lc rgb "#6fa8dc" title "4 T^2 D / R (Dao et al. 2022)" noenhanced, \
     tiles using 1:($2 * minimum) skip 1 with points pt 7 ps 0.9 lc rgb "#b03a2e" title "counted"

set output "labs/11-fusion/images/attention.svg"
set multiplot layout 1,2
set xrange [200:10500]
set logscale xy 2
set xlabel "tokens, T"
set key top left
unset title
set format y "%g"
set ylabel "ms, forward and backward"
set yrange [1:16384]
plot for [r in "plain tiled packed pytorch"] "< grep ,".r." ".times using 1:(1e3 * ($4 + $5)) with linespoints pt 7 ps 0.6 lw 2 title r
set ylabel "MB kept for backward"
set yrange [0.002:4096]
plot for [r in "plain tiled"] "< grep ,".r." ".times using 1:($3 / 1e6) with linespoints pt 7 ps 0.6 lw 2 title r
unset multiplot
