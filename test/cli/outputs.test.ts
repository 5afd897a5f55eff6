import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { reportSchemas } from '../../src/report/report-schema.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { folderOf } from './platform.ts';
import { collectingTerminal, projectRoot, runHere } from './running.ts';
import { PORTS, rule, type Scene, setScene, shop, web } from './scene.ts';

const MANIFESTS = { 'shop.yaml': shop(web(PORTS), rule('www', 'www.example.com')) };
const at = (scene: Scene, name: string): string => join(scene.folder, name);

test.for([
  ['plan.txt', 'Plan: '],
  ['plan.json', '{\n  "'],
  ['plan.jsonl', '{"type":"version"'],
  ['plan.ndjson', '{"type":"version"'],
  ['plan.yaml', 'source: "default"'],
  ['PLAN.YML', 'source: "default"'],
  ['plan.md', '<!-- portolan:plan:default -->'],
  ['plan.markdown', '<!-- portolan:plan:default -->'],
  ['plan.sarif', '"version": "2.1.0"'],
  ['plan.xml', '<testsuites'],
  ['plan.html', '<!doctype html>'],
  ['plan.htm', '<!doctype html>'],
] as const)('--out %s is written in the format of its extension', async ([name, text]) => {
  const scene = await setScene({ manifests: MANIFESTS });
  const run = await scene.run('plan', ['--out', at(scene, name)]);
  expect(run.code, run.err).toBe(0);
  expect(readFileSync(at(scene, name), 'utf8')).toContain(text);
  // Nothing else is left beside it.
  expect(readdirSync(scene.folder).sort()).toEqual([name, 'manifests', 'portolan.yaml'].sort());
});

test('FORMAT=FILE chooses a format that the extension does not, several times over, beside any screen', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const outs = ['--out', `github=${at(scene, 'a')}`, '--out', `markdown=${at(scene, 'b.txt')}`];
  const run = await scene.run('plan', ['-o', 'jsonl', ...outs]);
  expect(run.code).toBe(0);
  expect(run.out.split('\n')[0]).toContain('"type":"version"');
  expect(readFileSync(at(scene, 'a'), 'utf8')).toMatch(/^::notice file=.*shop\.yaml,line=\d+/);
  expect(readFileSync(at(scene, 'b.txt'), 'utf8')).toContain('### Plan: ');
});

test('the variable takes several files too', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const env = { ...scene.env, PORTOLAN_PLAN_OUT: `${at(scene, 'a.md')},junit=${at(scene, 'b')}` };
  expect((await scene.run('plan', [], { env })).code).toBe(0);
  expect(readFileSync(at(scene, 'a.md'), 'utf8')).toContain('### Plan: ');
  expect(readFileSync(at(scene, 'b'), 'utf8')).toContain('<testsuites');
});

test('a file that says no format is refused with all there are, before anything is asked of the platform', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const run = await scene.run('plan', ['--out', at(scene, 'plan.doc')]);
  expect(run.code).toBe(3);
  expect(run.err).toContain(
    'Write FORMAT=FILE, with one of: text, json, jsonl, yaml, markdown, github, gitlab, sarif, junit, html',
  );
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
});

test.for([
  ['plan', (scene: Scene) => ['--out', at(scene, 'a.md'), '--out', `html=${scene.folder}/./a.md`]],
  ['plan', (scene: Scene) => ['--out', at(scene, 'a.json'), '--save', at(scene, 'a.json')]],
] as const)('%s refuses to write two things to one file', async ([command, args]) => {
  const scene = await setScene({ manifests: MANIFESTS });
  const run = await scene.run(command, args(scene));
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain('is named twice as a file to write. Nothing was done.');
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
});

test('a link that somebody has put in the way of an unfinished file is not followed', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  writeFileSync(at(scene, 'precious'), 'precious');
  symlinkSync(at(scene, 'precious'), at(scene, 'plan.md.portolan-partial'));
  expect((await scene.run('plan', ['--out', at(scene, 'plan.md')])).code).toBe(0);
  expect(readFileSync(at(scene, 'precious'), 'utf8')).toBe('precious');
  expect(readFileSync(at(scene, 'plan.md'), 'utf8')).toContain('### Plan: ');
});

test.for([
  [
    'a plan that nobody agreed to',
    ['--expect', '0'.repeat(64)],
    4,
    'plan/not-expected',
    'not the plan that was agreed to',
  ],
  ['a guard over the run', ['--max-prunes', '0', '--prune'], 4, 'guard/empty-source', 'refused by a guard'],
] as const)('an apply that sends nothing says why in every format: %s', async ([, args, code, reason, words]) => {
  const scene = await setScene({ manifests: MANIFESTS });
  await scene.run('apply');
  const emptied = reason === 'guard/empty-source';
  scene.write('shop.yaml', emptied ? '' : shop(web(PORTS), rule('www', 'www.example.com', 'weight: 3')));
  scene.traffic();
  const formats = ['text', 'json', 'jsonl', 'yaml', 'markdown', 'github', 'sarif', 'junit', 'html'];
  const outs = formats.flatMap((format) => ['--out', `${format}=${at(scene, format)}`]);
  const run = await scene.run('apply', [...args, ...outs]);
  expect(run.code, run.err).toBe(code);
  expect(scene.traffic().writes).toEqual([]);
  const read = (format: string): string => readFileSync(at(scene, format), 'utf8');
  for (const format of ['json', 'jsonl', 'yaml', 'markdown', 'sarif', 'junit'])
    expect(read(format), format).toContain(reason);
  for (const format of ['markdown', 'github', 'sarif', 'junit', 'html']) expect(read(format), format).toContain(words);
  expect(read('text')).toContain('Nothing was sent.');
  const isApply = new Ajv2020({ strict: true }).compile(reportSchemas['apply.schema.json']!);
  const value: unknown = JSON.parse(read('json'));
  expect(isApply(value), JSON.stringify(isApply.errors)).toBe(true);
  expect(value).toMatchObject({ exitCode: code, outcomes: [] });
});

test.for([
  ['a folder that is not there', (scene: Scene) => at(scene, 'nowhere/plan.md'), 'there is no such folder'],
  ['a folder', (scene: Scene) => `markdown=${at(scene, 'manifests')}`, 'it is a folder'],
  ['a file as a folder', (scene: Scene) => at(scene, 'portolan.yaml/plan.md'), 'a part of the path is a file'],
] as const)('apply --out %s: refused before anything is sent', async ([, path, why]) => {
  const scene = await setScene({ manifests: MANIFESTS });
  const run = await scene.run('apply', ['--out', path(scene)]);
  expect(run).toMatchObject({ code: 3, out: '' });
  expect(run.err).toContain(why);
  expect(run.err).toContain('Nothing was done.');
  expect(scene.traffic()).toEqual({ writes: [], reads: [] });
});

test('a disk that is full at the end: what was applied stays applied, the reason is said, and the code is 1', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const run = await scene.run('apply', ['--out', 'markdown=/dev/full', '--out', at(scene, 'apply.md')]);
  expect(run.code).toBe(1);
  expect(run.out).toContain('Everything is in sync.');
  expect(run.err).toContain('/dev/full cannot be written: there is no space left on the disk. It was not written.');
  // One that cannot be written does not cost the others.
  expect(readFileSync(at(scene, 'apply.md'), 'utf8')).toContain('### Applied: ');
  expect((await scene.run('plan', ['--detailed-exitcode', '--out', 'markdown=/dev/full'])).code).toBe(1);
  expect((await scene.run('plan', ['--detailed-exitcode'])).code).toBe(0);
});

test('an older file is replaced as a whole, keeps its rights, and a link stays a link', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  mkdirSync(at(scene, 'public'));
  writeFileSync(at(scene, 'public/plan.md'), 'x'.repeat(100_000), { mode: 0o640 });
  symlinkSync(at(scene, 'public/plan.md'), at(scene, 'link.md'));
  expect((await scene.run('plan', ['--out', at(scene, 'link.md')])).code).toBe(0);
  expect(readFileSync(at(scene, 'public/plan.md'), 'utf8')).not.toContain('xxx');
  expect(statSync(at(scene, 'public/plan.md')).mode & 0o777).toBe(0o640);
  expect(readdirSync(at(scene, 'public'))).toEqual(['plan.md']);
});

test('no format shows a secret, however it would write it', async () => {
  const token = 'canary-token <&">\'|`@#%\\ end';
  const scene = await setScene({ manifests: MANIFESTS, token });
  // A stranger has put the token into a name that the plan shows.
  scene.alterPort(demo.webServiceId, 8080, { alias: `x${token}` });
  const formats = ['text', 'json', 'jsonl', 'yaml', 'markdown', 'github', 'sarif', 'junit', 'html'];
  const outs = formats.flatMap((format) => ['--out', `${format}=${at(scene, format)}`]);
  const run = await scene.run('plan', ['-o', 'html', ...outs]);
  expect(run.code, run.err).toBe(0);
  for (const text of [run.out, ...formats.map((format) => readFileSync(at(scene, format), 'utf8'))]) {
    expect(text).toContain('[secret]');
    expect(text).not.toContain('canary');
  }
});

test('apply in a format for programs asks nothing blindly: the plan stands above the question', async () => {
  const scene = await setScene({ manifests: MANIFESTS });
  const { terminal, text } = collectingTerminal({ isTerminal: true, answers: ['n'] });
  const args = ['apply', ...scene.options, '--ledger', scene.ledgerFile, '-o', 'json'];
  expect(await runHere(args, { terminal, env: scene.env, clock: scene.clock }).then(({ code }) => code)).toBe(0);
  expect(text.err).toMatch(/Plan: 2 to create, 1 to change[^]*Apply \d changes\?/);
  expect(text.err).toContain('Nothing was changed.');
  expect(JSON.parse(text.out)).toMatchObject({ formatVersion: 1, summary: { create: 2 } });
  expect(scene.traffic().writes).toEqual([]);
});

test('faults of manifests are reported, although an output cannot be written', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web('ports:\n  - { port: 80800 }')) } });
  const run = await scene.run('plan', ['--out', 'sarif=/dev/full']);
  expect(run).toMatchObject({ code: 1, out: '' });
  expect(run.err).toMatch(/error: .*80800.*\[schema\/maximum\]\n *--> .*a\.yaml:13:/);
  expect(run.err).toContain('/dev/full cannot be written: there is no space left on the disk. It was not written.');
});

test('faults of manifests go to the formats that have a place for them, of plan as of validate', async () => {
  const scene = await setScene({ manifests: { 'a.yaml': shop(web('ports:\n  - { port: 80800 }')) } });
  const outs = ['--out', at(scene, 'plan.sarif'), '--out', at(scene, 'plan.md')];
  const plan = await scene.run('plan', ['-o', 'github', ...outs]);
  expect(plan.code).toBe(3);
  const [annotation = '', last] = plan.out.split('\n');
  expect(annotation).toMatch(/^::error file=.*a\.yaml,line=13,col=\d+,title=.*80800/);
  expect(last).toBe('1 fault');
  expect(plan.err).toContain(`${at(scene, 'plan.md')} was not written: there is no plan.`);
  const sarif = JSON.parse(readFileSync(at(scene, 'plan.sarif'), 'utf8'));
  expect(sarif.runs[0].results[0]).toMatchObject({ ruleId: 'schema/maximum', level: 'error' });

  const validate = await runHere(['validate', ...scene.options, '-o', 'github'], { env: scene.env });
  expect(validate).toMatchObject({ code: 3, out: plan.out });
});

test('validate: sound manifests are no findings, and one test each', async () => {
  const folder = folderOf(MANIFESTS);
  const validate = (format: string) => runHere(['validate', '-f', folder, '-o', format]);
  expect((await validate('github')).out).toBe('3 valid resources\n');
  expect(JSON.parse((await validate('sarif')).out).runs[0].results).toEqual([]);
  const junit = await validate('junit');
  expect(junit.code).toBe(0);
  expect(junit.out).toContain('<testsuites name="portolan" tests="3" failures="0" errors="0">');
  expect(junit.out).toContain('<testcase name="valid" classname="HttpGatewayRule/www"/>');
});

interface Line {
  readonly type: string;
  readonly action?: string;
  readonly status?: string;
}

const linesOf = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('apply -o jsonl: every step as it happens, valid to the last, and in the file what it comes to', async () => {
  const isLine = new Ajv2020({ strict: true }).compile(reportSchemas['plan-line.schema.json']!);
  const scene = await setScene({ manifests: MANIFESTS });
  scene.sandbox.setFaults([{ operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } }]);
  const seen: string[] = [];
  const { terminal } = collectingTerminal();
  const out = {
    ...terminal.out,
    write: (text: string): void => {
      const writes = scene.sandbox.requests().filter((entry) => entry.isWrite).length;
      for (const { type } of linesOf(text)) seen.push(`${type} ${writes}`);
      terminal.out.write(text);
    },
  };
  const file = at(scene, 'apply.jsonl');
  const run = await scene.run('apply', ['-o', 'jsonl', '--out', file], { terminal: { ...terminal, out } });
  expect(run.code, run.err).toBe(4);
  // What is begun is told before it is sent, and what came of it before the next is.
  expect(seen.filter((line) => /^(?:version|summary|started|result|end)/.test(line))).toEqual([
    'version 0',
    'summary 0',
    'started 0',
    'result 1',
    'started 1',
    'result 2',
    'started 2',
    'result 3',
    'end 3',
  ]);
  for (const text of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    expect(isLine(JSON.parse(text)), `${text} ${JSON.stringify(isLine.errors)}`).toBe(true);
  }
});

test('what apply writes line by line are lines of the schema, over a doubt and its end', async () => {
  const isLine = new Ajv2020({ strict: true }).compile(reportSchemas['plan-line.schema.json']!);
  const scene = await setScene({ manifests: MANIFESTS });
  scene.sandbox.setFaults([{ operation: 'createRule', times: 1, fault: { type: 'drop', when: 'after' } }]);
  const first = await scene.run('apply', ['-o', 'jsonl']);
  expect(first.code).toBe(4);
  scene.clock.push(10 * 60_000);
  const second = await scene.run('apply', ['-o', 'jsonl']);
  expect(second.code, second.err).toBe(0);
  const installing = await (await setScene()).run('apply', ['-o', 'jsonl']);
  expect(installing.code, installing.err).toBe(0);
  const lines = linesOf(first.out + second.out + installing.out);
  for (const line of lines) expect(isLine(line), `${JSON.stringify(line)} ${JSON.stringify(isLine.errors)}`).toBe(true);
  const types = [...new Set(lines.map(({ type }) => type))].sort();
  const ofPlan = ['version', 'plan', 'application', 'action', 'deferred', 'summary'];
  expect(types).toEqual([...ofPlan, 'started', 'result', 'resolved', 'waiting', 'outcome', 'end'].sort());
});

test.for([
  ['plan', 'Plan'],
  ['apply', 'Result of an apply'],
  ['plan-line', 'Line of a plan or an apply'],
  ['conformance', 'Conformance report'],
] as const)('schema %s is the published one', async ([word, title]) => {
  const run = await runHere(['schema', word]);
  expect(run.code).toBe(0);
  expect(JSON.parse(run.out)).toMatchObject({ title });
  expect(run.out).toBe(readFileSync(join(projectRoot, 'schemas', `${word}.schema.json`), 'utf8'));
});
