import { COMPLETE_COMMAND } from '../../session/command.ts';

/** Shells that `portolan completion` writes a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Scripts of the shells. The last line of an answer is `:words` or `:files`; each other line is one candidate, with its
 * description after a tab. A script runs the program that is being typed, so that it fits the installed version, and
 * hides all errors.
 */
const BASH = `# Completion of portolan for bash. To enable it in every shell, put this line into ~/.bashrc:
#   source <(portolan completion bash)
_portolan() {
  local line="\${COMP_LINE:0:COMP_POINT}" program="\${1:-portolan}" candidate full strip=''
  local -a words=() answer=()
  [[ $program == '~/'* ]] && program="$HOME/\${program#'~/'}"
  # With backslashes, as bash reads a line: a file may have a space in its name.
  IFS=$' \\t\\n' read -a words <<< "$line" 2> /dev/null
  [[ $line == *[[:space:]] ]] && words+=('')
  full="\${words[\${#words[@]} - 1]}"
  while IFS= read -r candidate; do answer+=("$candidate"); done < <(
    "$program" ${COMPLETE_COMMAND} -- "\${words[@]:1}" 2> /dev/null < /dev/null
  )
  COMPREPLY=()
  ((\${#answer[@]} == 0)) && return 0
  if [[ \${answer[\${#answer[@]} - 1]} == :files ]]; then
    if compopt -o default 2> /dev/null; then return 0; fi
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$2")
    return 0
  fi
  # Bash takes = and : for ends of words, and replaces only what stands behind them.
  [[ $COMP_WORDBREAKS == *:* && $full == *:* ]] && strip="\${full%"\${full##*:}"}"
  [[ $COMP_WORDBREAKS == *=* && \${full#"$strip"} == *=* ]] && strip="\${full%"\${full##*=}"}"
  for candidate in "\${answer[@]}"; do
    [[ $candidate == :words ]] && continue
    candidate="\${candidate%%$'\\t'*}"
    COMPREPLY+=("\${candidate#"$strip"}")
  done
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
  return 0
}
complete -F _portolan portolan
`;

const ZSH = `#compdef portolan
# Completion of portolan for zsh. To enable it in every shell, put this line into ~/.zshrc, after compinit:
#   source <(portolan completion zsh)
_portolan() {
  local line
  local -a answer described closed open
  answer=("\${(@f)$(\${(Q)words[1]} ${COMPLETE_COMMAND} -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null < /dev/null)}")
  if [[ \${answer[-1]} == :files ]]; then
    compset -P '*='
    _files
    return
  fi
  for line in "\${answer[@]}"; do
    [[ -z $line || $line == :words ]] && continue
    described="\${\${line%%$'\\t'*}//:/\\\\:}"
    [[ $line == *$'\\t'?* ]] && described="$described:\${line#*$'\\t'}"
    if [[ \${line%%$'\\t'*} == *= ]]; then open+=("$described"); else closed+=("$described"); fi
  done
  (( \${#closed} )) && _describe -t values portolan closed
  (( \${#open} )) && _describe -t values portolan open -S ''
  (( \${#closed} + \${#open} ))
}
if [[ \${funcstack[1]} == _portolan ]]; then _portolan "$@"; else compdef _portolan portolan; fi
`;

const FISH = `# Completion of portolan for fish. To have it in every shell:
#   portolan completion fish > ~/.config/fish/completions/portolan.fish
function __portolan_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l answer ($program ${COMPLETE_COMMAND} -- $words "$current" 2> /dev/null < /dev/null)
    if test (count $answer) -gt 0; and test "$answer[-1]" = :files
        if string match -q -- '--*=*' "$current"
            set -l flag (string replace -r '=.*' = -- "$current")
            __fish_complete_path (string replace -r '^[^=]*=' '' -- "$current") | string replace -r '^' -- "$flag"
        else
            __fish_complete_path (string unescape -- "$current"; or echo "$current")
        end
        return
    end
    string match -v -- ':words' $answer
end
complete -c portolan -f -k -a '(__portolan_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
