# Plots time and share of a copy's bandwidth over the number of samples, a line for each strategy and device.
#
#   lumeq-bench histogram --size 32x32,128x128,512x512,2048x2048,8192x8192 --csv > sizes.csv
#   gnuplot -e "csv='sizes.csv'; out='sizes'" samples/plot-bench.gp
#
# writes sizes-time.svg, sizes-time.png, sizes-share.svg and sizes-share.png. CPU rows have no share; if
# there are only CPU rows, the share plot is skipped.

if (!exists("csv")) csv = "sizes.csv"
if (!exists("out")) out = "sizes"

share = "share_of_copy_percent"
header = system(sprintf("head -n 1 '%s'", csv))
number_of(name) = int(system(sprintf("printf '%%s' '%s' | tr , '\\n' | grep -nx '%s' | cut -d: -f1", \
                                     header, name)))

# Names STRATEGY/DEVICE, in file order, of the rows with a value in the column.
series_of(name) = system(sprintf("awk -F, 'NR > 1 && $%d != \"\" && !seen[$1 $2]++ { print $1 \"/\" $2 }' '%s'", \
                                 number_of(name), csv))
rows_of(series) = sprintf("< awk -F, 'NR == 1 || $1 \"/\" $2 == \"%s\"' '%s'", series, csv)
slash(series) = strstrt(series, "/")
device(series) = series[slash(series) + 1:]
title_of(series) = series[:slash(series) - 1] . \
    (device(series) eq "CPU" ? "" : ", GPU " . device(series))

# A series looks the same in both plots; all have a time. lumeq's line is the thick one.
all = series_of("time_us")
style_of(series) = int(system(sprintf("printf '%%s' '%s' | tr ' ' '\n' | grep -nxF '%s' | cut -d: -f1", \
                                      all, series)))
width_of(series) = series[:slash(series) - 1] eq "lumeq" ? 3 : 1
array colours[8] = ["#0072b2", "#d55e00", "#009e73", "#aa3377", "#b8860b", "#56b4e9", "#444444", "#882255"]

set datafile separator ","
set key outside right center vertical maxrows 100 noenhanced
set grid
set logscale x 2
set format x "2^{%L}"
set xlabel "elements"
set style data linespoints
set pointsize 0.6

do for [name in "time_us " . share] {
    series = series_of(name)
    kind = name eq "time_us" ? "time" : "share"
    if (words(series) == 0) {
        print sprintf("plot-bench: %s has no %s: no plot of it", csv, name)
    } else {
        if (kind eq "time") {
            set logscale y
            set ylabel "time, µs"
            set yrange [*:*]
        } else {
            unset logscale y
            set ylabel "share of a copy's bandwidth, %"
            set yrange [0:*]
        }
        height = 25 * words(series) + 100 > 600 ? 25 * words(series) + 100 : 600
        do for [type in "svg png"] {
            if (type eq "svg") {
                set terminal svg size 1100, height background "white" dynamic
            } else {
                set terminal pngcairo size 1100, height background "white"
            }
            set output sprintf("%s-%s.%s", out, kind, type)
            plot for [i = 1:words(series)] rows_of(word(series, i)) using "elements":name \
                linecolor rgb colours[(style_of(word(series, i)) - 1) % 8 + 1] \
                linewidth width_of(word(series, i)) dashtype 1 + (style_of(word(series, i)) - 1) / 8 \
                pointtype style_of(word(series, i)) % 14 + 1 title title_of(word(series, i))
            unset output
        }
    }
}
