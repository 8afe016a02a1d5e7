#!/bin/sh
# Time per step of the scenes of RPIsim against the original's (docs/rpisim.md, last table: GNU Octave, one thread).
#   rpisim.sh COMMAND [REPEATS]
# CPU time of the process, the best of REPEATS runs; scenes with several steps of the original's window only. The goal is a ratio of
# 1000 where collision took more than half of the original's time, 300 elsewhere; for lemke up to n = 72.
set -eu
moreau=$1
repeats=${2:-3}
scenes=$(dirname "$0")/../scenes

# scene steps original[s] goal lemke-goal(0: none) extra
table='sphere_drop      200 0.0012 300  300
sliding_block    100 0.0510 1000 300
sphere_on_sphere 200 0.0054 300  300
spheres_on_cube   50 0.0808 300  0
ten_balls         60 0.0331 300  0
simtest           60 0.0700 1000 0
pachinko          60 0.0233 1000 0   --set bodies.ball.grid.count=[5,2,1]
multi_mesh        20 0.275  1000 0
peg_in_hole       60 0.0816 1000 300
spheres_8        100 0.046  300  0
spheres_27       100 0.254  300  0
spheres_125      100 4.1    300  0'

# best CPU and stage times of a few runs, in microseconds: "cpu collision assemble solve failures"
measure() {
    for i in $(seq "$repeats"); do
        "$moreau" run "$scenes/$1.yaml" --steps "$2" --solver "$3" $4 --json 2>/dev/null || true
    done | awk '
        { gsub(/[",]/, "") }
        $1 == "failures:" { if ($2 > failures) failures = $2 }
        $1 == "cpu:" { cpu = $2 }
        $1 == "collision:" && $2 + 0 == $2 { collision = $2 }
        $1 == "assemble:" { assemble = $2 }
        $1 == "solve:" { if (best == "" || cpu < best) { best = cpu; c = collision; a = assemble; s = $2 } }
        END { print best, c, a, s, failures + 0 }'
}

printf '%-17s %-7s %12s %12s %8s %6s  %-6s %s\n' scene solver 'RPIsim [us]' 'here [us]' ratio goal met '(collision / assemble / solve, wall us)'
status=0
for solver in pgs lemke; do
    echo "$table" | while read -r scene steps original goal lemke extra; do
        [ $solver = pgs ] || goal=$lemke
        [ $solver = pgs ] || [ "$scene" != spheres_125 ] || continue # n = 1950: not a problem for pivoting
        set -- $(measure "$scene" "$steps" $solver "$extra")
        awk -v scene="$scene" -v solver=$solver -v original="$original" -v cpu="$1" -v goal="$goal" -v stages="$2 $3 $4" -v failures="$5" 'BEGIN {
            split(stages, s, " "); ratio = original * 1e6 / cpu
            met = failures > 0 ? "FAILED" : goal == 0 ? "-" : ratio >= goal ? "yes" : "no"
            printf "%-17s %-7s %12.0f %12.2f %8.0f %6s  %-6s (%.1f / %.1f / %.1f)\n", scene, solver, original * 1e6, cpu, ratio, goal ? goal : "-", met, s[1], s[2], s[3] }'
    done
done
