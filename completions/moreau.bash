# Completion of moreau for bash; written by scripts/make-manuals.
_moreau() {
    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=
    # bash splits --name=value into three words
    if [ "$word" = "=" ]; then word=; elif [ "$last" = "=" ]; then last=${COMP_WORDS[COMP_CWORD-2]}; fi
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'run doctor new solve robot convert derivative optimise calibrate compare dataset plot reproduce sweep trust view export-fmu list help --help --version' -- "$word"))
        return
    fi
    case "$command $last" in
        "run --formulation") COMPREPLY=($(compgen -W "$(moreau list formulations --names 2>/dev/null)" -- "$word")); return ;;
        "run --solver") COMPREPLY=($(compgen -W "$(moreau list solvers --names 2>/dev/null)" -- "$word")); return ;;
        "run --collision") COMPREPLY=($(compgen -W "$(moreau list collision --names 2>/dev/null)" -- "$word")); return ;;
        "run --integrator") COMPREPLY=($(compgen -W "$(moreau list integrators --names 2>/dev/null)" -- "$word")); return ;;
        "run --step") return ;;
        "run --time") return ;;
        "run --steps") return ;;
        "run --set") return ;;
        "run --from") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "run --snapshot") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "run --at") return ;;
        "run --csv") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "run --record") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "run --bpmd") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "run --bpmd-names") COMPREPLY=($(compgen -W 'ours paper' -- "$word")); return ;;
        "run --time-limit") return ;;
        "run --control") return ;;
        "run --control-timeout") return ;;
        "run --pace") return ;;
        "run --threads") return ;;
        "run --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "doctor --time") return ;;
        "doctor --limit") return ;;
        "doctor --set") return ;;
        "doctor --step") return ;;
        "doctor --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "new --urdf") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "new --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "solve --kind") return ;;
        "solve --solver") COMPREPLY=($(compgen -W "$(moreau list solvers --names 2>/dev/null)" -- "$word")); return ;;
        "solve --tol") return ;;
        "solve --max-iter") return ;;
        "solve --time-limit") return ;;
        "solve --solution") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "solve --trace") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "solve --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "robot --state") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "robot --frames") return ;;
        "robot --joints") return ;;
        "robot --base") return ;;
        "robot --tree") return ;;
        "robot --loop") return ;;
        "robot --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "convert --tree") return ;;
        "convert --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "derivative --at") return ;;
        "derivative --steps") return ;;
        "derivative --input") return ;;
        "derivative --side") COMPREPLY=($(compgen -W 'both along against' -- "$word")); return ;;
        "derivative --set") return ;;
        "derivative --step") return ;;
        "derivative --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "optimise --vary") return ;;
        "optimise --goal") return ;;
        "optimise --end") return ;;
        "optimise --search") COMPREPLY=($(compgen -W 'gradient nelder-mead' -- "$word")); return ;;
        "optimise --starts") return ;;
        "optimise --spread") return ;;
        "optimise --seed") return ;;
        "optimise --tol") return ;;
        "optimise --simulations") return ;;
        "optimise --set") return ;;
        "optimise --step") return ;;
        "optimise --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "calibrate --jobs") return ;;
        "calibrate --html") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "calibrate --csv") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "calibrate --journal") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "calibrate --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "compare --formulations") COMPREPLY=($(compgen -W "$(moreau list formulations --names 2>/dev/null)" -- "$word")); return ;;
        "compare --solvers") return ;;
        "compare --collision") return ;;
        "compare --tol") return ;;
        "compare --time-limit") return ;;
        "compare --memory") return ;;
        "compare --start") COMPREPLY=($(compgen -W 'cold warm' -- "$word")); return ;;
        "compare --frames") return ;;
        "compare --traces") return ;;
        "compare --iterations") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "compare --coordinates") COMPREPLY=($(compgen -W 'minimal maximal' -- "$word")); return ;;
        "compare --scene-limit") return ;;
        "compare --assume") COMPREPLY=($(compgen -W 'nothing file family' -- "$word")); return ;;
        "compare --jobs") return ;;
        "compare --out") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "compare --csv") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "compare --baseline") return ;;
        "compare --shard") return ;;
        "compare --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "dataset --output"|"dataset -o") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "dataset --author") return ;;
        "dataset --licence") return ;;
        "dataset --engine") return ;;
        "dataset --commit") return ;;
        "dataset --command") return ;;
        "dataset --family") return ;;
        "dataset --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "plot --output"|"plot -o") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "plot --title") return ;;
        "plot --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "reproduce --output"|"reproduce -o") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "reproduce --seed") return ;;
        "reproduce --threads") return ;;
        "reproduce --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "sweep --out"|"sweep -o") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "sweep --csv") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "sweep --html") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "sweep --jobs") return ;;
        "sweep --shard") return ;;
        "sweep --time-limit") return ;;
        "sweep --slurm") return ;;
        "sweep --sbatch") return ;;
        "sweep --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "trust --within") return ;;
        "trust --members") return ;;
        "trust --time") return ;;
        "trust --set") return ;;
        "trust --seed") return ;;
        "trust --html") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "trust --jobs") return ;;
        "trust --time-limit") return ;;
        "trust --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "view --port") return ;;
        "view --listen") return ;;
        "view --html") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "view --size") return ;;
        "view --rate") return ;;
        "view --png") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "view --at") return ;;
        "view --video") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "view --fps") return ;;
        "view --speed") return ;;
        "view --pixels") return ;;
        "view --look") return ;;
        "view --set") return ;;
        "view --formulation") return ;;
        "view --solver") return ;;
        "view --step") return ;;
        "view --threads") return ;;
        "view --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "export-fmu --output"|"export-fmu -o") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "export-fmu --fmi") return ;;
        "export-fmu --formulation") COMPREPLY=($(compgen -W "$(moreau list formulations --names 2>/dev/null)" -- "$word")); return ;;
        "export-fmu --solver") COMPREPLY=($(compgen -W "$(moreau list solvers --names 2>/dev/null)" -- "$word")); return ;;
        "export-fmu --step") return ;;
        "export-fmu --set") return ;;
        "export-fmu --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
        "list --plugin") COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    case $command in
        run) options='--formulation --solver --collision --integrator --step --time --steps --set --from --snapshot --at --csv --record --bpmd --bpmd-names --time-limit --control --control-timeout --pace --threads --json --verbose --quiet --plugin --help -h' ;;
        doctor) options='--time --limit --set --step --json --plugin --help -h' ;;
        new) options='--urdf --plugin --help -h' ;;
        solve) options='--kind --solver --all --tol --max-iter --time-limit --solution --trace --json --plugin --help -h' ;;
        robot) options='--state --frames --joints --base --tree --loop --json --plugin --help -h' ;;
        convert) options='--tree --plugin --help -h' ;;
        derivative) options='--at --steps --input --side --set --step --json --plugin --help -h' ;;
        optimise) options='--vary --goal --end --search --starts --spread --seed --tol --simulations --set --step --json --plugin --help -h' ;;
        calibrate) options='--jobs --html --csv --json --journal --resume --quiet --plugin --help -h' ;;
        compare) options='--formulations --solvers --collision --tol --time-limit --memory --start --frames --traces --iterations --coordinates --scene-limit --assume --jobs --out --csv --baseline --json --shard --merge --resume --quiet --plugin --help -h' ;;
        dataset) options='--output -o --full --author --licence --engine --commit --command --family --plugin --help -h' ;;
        plot) options='--output -o --title --plugin --help -h' ;;
        reproduce) options='--output -o --seed --threads --quick --plugin --help -h' ;;
        sweep) options='--out -o --csv --html --jobs --shard --merge --resume --time-limit --slurm --sbatch --no-submit --json --quiet --plugin --help -h' ;;
        trust) options='--within --members --time --set --seed --html --jobs --time-limit --json --quiet --plugin --help -h' ;;
        view) options='--port --listen --html --size --rate --png --at --video --fps --speed --pixels --look --set --formulation --solver --step --paused --wait --threads --plugin --help -h' ;;
        export-fmu) options='--output -o --fmi --formulation --solver --step --set --plugin --help -h' ;;
        list) options='--json --names --plugin --help -h' ;;
        help) options='run doctor new solve robot convert derivative optimise calibrate compare dataset plot reproduce sweep trust view export-fmu list' ;;
    esac
    case $command-$word in
        *-- | *--*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        help-*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        run-* | view-* | compare-* | doctor-*) COMPREPLY=($(compgen -f -W "$(moreau list scenes --names 2>/dev/null)" -- "$word")) ;;
        list-*) COMPREPLY=($(compgen -W '' -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _moreau moreau
