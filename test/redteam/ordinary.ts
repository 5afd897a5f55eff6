/**
 * A process of its own in which the YAML library alone reads an ordinary file of the greatest size, and says how long that
 * took: the floor to which `measure.ts` is compared, because some machines are three times slower than others.
 */
import { parseAllDocuments } from 'yaml';
import { LIMITS } from '../../src/manifest/limits.ts';
import { stopwatch } from './stopwatch.ts';

const text = ordinary(LIMITS.fileBytes);
const sinceStart = stopwatch();
for (const document of parseAllDocuments(text)) document.toJS();
process.stdout.write(JSON.stringify(sinceStart()));

/** Components with a few ports, as a team writes them. */
function ordinary(bytes: number): string {
  const piece = (at: number) =>
    `apiVersion: portolan/v1\nkind: Component\nmetadata:\n  name: component-${at}\nspec:\n  application: shop\n  ports:\n` +
    '    - { port: 8080, protocol: http, alias: WEB }\n    - { port: 9090, protocol: tcp, inner: true }\n---\n';
  let made = '';
  for (let at = 0; made.length + piece(at).length <= bytes; at += 1) made += piece(at);
  return made;
}
