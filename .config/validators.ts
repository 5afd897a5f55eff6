import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { kindDeclarations } from '../src/configuration/declarations.ts';
import { documentSchema } from '../src/kinds/schema.ts';
import { COMPILER_OPTIONS } from '../src/manifest/compiler.ts';

/**
 * Puts the compiled validators in the place of `src/manifest/compile.ts`, which compiles them when they are needed: a
 * command that ends after half a second has no time for that.
 */
export function compiledValidators(root: string): Plugin {
  const replaced = join(root, 'src', 'manifest', 'compile.ts');
  return {
    name: 'compiled-validators',
    load: (id) => (id === replaced ? { code: validatorsModule(), moduleType: 'js' } : null),
  };
}

function validatorsModule(): string {
  const kinds = [...kindDeclarations.values()];
  const ajv = new Ajv2020({ ...COMPILER_OPTIONS, code: { source: true, esm: true } });
  for (const kind of kinds) ajv.addSchema(documentSchema(kind), kind.kind);
  const code = standaloneCode.default(ajv, Object.fromEntries(kinds.map(({ kind }) => [`validate${kind}`, kind])));
  // It asks for two small functions of ajv in the manner of CommonJS.
  const imports = new Map<string, string>();
  const body = code.replace(/require\("([^"]+)"\)\.default/g, (_, path: string) => {
    const name = imports.get(path) ?? `runtime${imports.size}`;
    imports.set(path, name);
    return `${name}.default`;
  });
  if (body.includes('require(')) throw new Error('a compiled validator asks for something that is not known here');
  return [
    ...[...imports].map(([path, name]) => `import ${name} from ${JSON.stringify(path)};`),
    ...eager(body),
    `const validators = { ${kinds.map(({ kind }) => `${kind}: validate${kind}`).join(', ')} };`,
    'export const compileSchema = ({ kind }) => validators[kind];',
  ].join('\n');
}

/**
 * A function in parentheses is compiled with its module, and so is found in the cache of compiled code that Node keeps;
 * any other is compiled when it is first called, in every process anew.
 */
function eager(body: string): string[] {
  const functions: string[] = [];
  const rest: string[] = [];
  for (const node of parseAst(body).body) {
    const text = body.slice(node.start, node.end);
    if (node.type === 'FunctionDeclaration' && node.id) functions.push(`const ${node.id.name} = (${text});`);
    else rest.push(text);
  }
  return [...functions, ...rest];
}
