/** One instruction of a Dockerfile, continuation lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Instructions by stage, in order; the last stage is the image. */
export function stagesOf(dockerfile: string): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = [];
  const joined = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ');
  for (const line of joined.split('\n')) {
    const [, name, text] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (name === undefined || text === undefined) {
      if (line.trim() !== '') throw new Error(`no instruction: ${line}`);
      continue;
    }
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: text.replace(/\s+/g, ' ').trim() });
  }
  return stages;
}

/** The text of every instruction of this name. */
export function textsOf(stage: readonly Instruction[], name: string): readonly string[] {
  return stage.filter((instruction) => instruction.name === name).map(({ text }) => text);
}

/** `ENV A=1 B=2` as values. */
export function environmentOf(stage: readonly Instruction[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    textsOf(stage, 'ENV').flatMap((text) =>
      text.split(' ').map((pair): [string, string] => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    ),
  );
}

/** The arguments of an instruction in exec form. */
export function execForm(text: string): readonly string[] {
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}
