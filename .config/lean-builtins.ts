import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

const LEAN = '\0lean:';

/**
 * Takes from a module of Node what is imported from it, and no more: an import statement evaluates every property that the
 * module has, and with `fs` comes `fs.promises`, with `crypto` the Web Cryptography API, with `util` a parser of arguments.
 */
export function leanBuiltins(): Plugin {
  return {
    name: 'lean-builtins',
    resolveId(source, _importer, { kind }) {
      if (kind !== 'import-statement' || !isBuiltin(source)) return null;
      return `${LEAN}${source.startsWith('node:') ? source : `node:${source}`}`;
    },
    load(id) {
      if (!id.startsWith(LEAN)) return null;
      const name = id.slice(LEAN.length);
      const builtin = process.getBuiltinModule(name);
      if (builtin === undefined) throw new Error(`there is no ${name} in this Node`);
      const names = Object.keys(builtin).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default');
      // Pure, so that what nobody imports is left out.
      const exported = names.map((key, index) => `const x${index} = /* @__PURE__ */ (() => m.${key})();`);
      return {
        code: [
          `const m = /* @__PURE__ */ (() => process.getBuiltinModule(${JSON.stringify(name)}))();`,
          'export default m;',
          ...exported,
          `export { ${names.map((key, index) => `x${index} as ${key}`).join(', ')} };`,
        ].join('\n'),
        moduleType: 'js',
        moduleSideEffects: false,
      };
    },
  };
}
