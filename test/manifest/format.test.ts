import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { formatFile } from '../../src/manifest/format.ts';

/** The text that a file becomes, or the codes of what keeps it from that. */
function formatted(content: string | Uint8Array): string | readonly string[] {
  const result = formatFile(kindDeclarations, { path: 'a.yaml', content });
  return result.type === 'formatted' ? result.text : result.problems.map(({ code }) => code);
}

const HEAD = `apiVersion: portolan/v1
kind: Component
metadata:
  name: shop-web
`;

test.for([
  [
    'the fields of a document stand in the order of its schema, and comments go with them',
    `# yaml-language-server: $schema=component.schema.json
# The web servers of the shop.
spec:
  # Everything that answers.
  ports:
    - outer: true # to everybody
      inner: true
      # as the platform knows it
      protocol: http
      port: 8080
  # id of the platform
  serviceId: abc
  application: shop
metadata: { labels: { b: x, a: y }, name: shop-web }
kind: Component
apiVersion: portolan/v1
`,
    `# yaml-language-server: $schema=component.schema.json
# The web servers of the shop.
apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web, labels: { b: x, a: y } }
spec:
  application: shop
  # id of the platform
  serviceId: abc
  # Everything that answers.
  ports:
    - port: 8080
      # as the platform knows it
      protocol: http
      inner: true
      outer: true # to everybody
`,
  ],
  [
    'lists keep the order of their author',
    `${HEAD}spec: { application: shop, serviceId: abc, ports: [ { port: 2 }, { port: 1 } ] }\n`,
    `${HEAD}spec: { application: shop, serviceId: abc, ports: [ { port: 2 }, { port: 1 } ] }\n`,
  ],
  [
    'brackets that span lines, or are too long for one, get a line for each entry',
    `${HEAD}spec:
  application: shop
  serviceId: abc
  ports: [ { port: 1 }, # the first
    { port: 2, protocol: http, alias: A_RATHER_LONG_ALIAS_OF_A_PORT_THAT_HAS_A_LONG_NAME, inner: true, outer: false } ]
`,
    `${HEAD}spec:
  application: shop
  serviceId: abc
  ports:
    - { port: 1 } # the first
    - port: 2
      protocol: http
      alias: A_RATHER_LONG_ALIAS_OF_A_PORT_THAT_HAS_A_LONG_NAME
      inner: true
      outer: false
`,
  ],
  [
    'quotes stay where a reader could take the text for anything else',
    `apiVersion: "portolan/v1"
kind: 'StoreInstall'
metadata:
  name: "db"
  labels: { "a": 'yes', b: "on", c: '8.0', d: "8.0.36", e: 'it''s' }
  annotations: { f: "a: b", g: "a b", h: '\${X}', i: 'a # b', j: "" }
spec:
  application: 'shop'
  store: "main"
  model: { id: '0a1b2c', version: '8.0.36' }
`,
    `apiVersion: portolan/v1
kind: StoreInstall
metadata:
  name: db
  labels: { a: "yes", b: "on", c: "8.0", d: "8.0.36", e: "it's" }
  annotations: { f: "a: b", g: a b, h: "\${X}", i: "a # b", j: "" }
spec:
  application: shop
  store: main
  model: { id: "0a1b2c", version: "8.0.36" }
`,
  ],
  [
    'indentation is two spaces, blank lines are one, and comments at the end of a line stay there',
    `

# About the application.


apiVersion: portolan/v1
kind:   Application
metadata:   # its name


    name:    shop   # in full


spec:   # where it is
      team: team-a


      region: region-1


      # the number
      appId:   42


# the end


`,
    `# About the application.

apiVersion: portolan/v1
kind: Application
metadata: # its name
  name: shop # in full

spec: # where it is
  team: team-a

  region: region-1

  # the number
  appId: 42

# the end
`,
  ],
  [
    'documents keep their marks, and the comments between them',
    `---
# first
apiVersion: portolan/v1
kind: Application
metadata: { name: a }
spec: { appId: 1, team: t, region: r }
# behind the first
---
# second
kind: Application
apiVersion: portolan/v1
metadata: { name: b }
spec: { team: t, region: r, appId: 2 }
`,
    `---
# first
apiVersion: portolan/v1
kind: Application
metadata: { name: a }
spec: { team: t, region: r, appId: 1 }

# behind the first
---
# second
apiVersion: portolan/v1
kind: Application
metadata: { name: b }
spec: { team: t, region: r, appId: 2 }
`,
  ],
  [
    'a comment belongs to what it stands in line with',
    `apiVersion: portolan/v1
kind: Application
spec:
  health:
    - series: a
      # no max
      min: 1
      # of the entry
    # of the list
  # of the team
  team: t
  region: r
  appId: 1
  # of the spec

# of the metadata
metadata:
  name: a
  # of the name
# the end
`,
    `apiVersion: portolan/v1
kind: Application

# of the metadata
metadata:
  name: a
  # of the name
spec:
  # of the team
  team: t
  region: r
  appId: 1
  health:
    - series: a
      # no max
      min: 1
      # of the entry
    # of the list
  # of the spec
# the end
`,
  ],
  [
    'texts of several lines keep their style, and no other line is broken',
    `apiVersion: portolan/v1
kind: Application
metadata:
  name: # in full
      shop
  annotations:
    steps: |   # as they are
        one
          two
    story: >-
        ${'word '.repeat(30)}
        end

        second
spec: { team: t, region: r, appId: 1 }
---
apiVersion: portolan/v1
kind: Application
metadata: { name: blog }
spec:
  team: t
  region: r
  app: ${'x'.repeat(120)}
`,
    `apiVersion: portolan/v1
kind: Application
metadata:
  name: shop # in full
  annotations:
    steps: | # as they are
      one
        two
    story: >-
      ${'word '.repeat(18)}word
      ${'word '.repeat(11).trimEnd()}  end

      second
spec: { team: t, region: r, appId: 1 }
---
apiVersion: portolan/v1
kind: Application
metadata: { name: blog }
spec:
  team: t
  region: r
  app: ${'x'.repeat(120)}
`,
  ],
  [
    'a byte order mark and carriage returns go',
    `\ufeffapiVersion: portolan/v1\r\nkind: Store\r\nmetadata: { name: a }\r\nspec: { url: 'https://a.b', domain: d, type: t } # c\r\n`,
    `apiVersion: portolan/v1\nkind: Store\nmetadata: { name: a }\nspec: { url: https://a.b, domain: d, type: t } # c\n`,
  ],
  [
    'a value that a variable will fill is no fault, whatever the field takes',
    'kind: Application\napiVersion: portolan/v1\nmetadata: { name: a }\nspec: { appId: "${APP}", team: "${TEAM}", region: r }\n',
    'apiVersion: portolan/v1\nkind: Application\nmetadata: { name: a }\nspec: { team: "${TEAM}", region: r, appId: "${APP}" }\n',
  ],
  ['a file with nothing but comments is kept', '\n# nothing yet\n\n', '# nothing yet\n'],
  ['an empty file stays empty', '', ''],
] as const)('%s', ([, before, after]) => {
  expect(formatted(before)).toBe(after);
  expect(formatted(after)).toBe(after);
});

test.for([
  ['a misspelt field', `${HEAD}spec: { application: shop, serviceId: abc, prots: [] }\n`, 'schema/unknown-field'],
  ['an anchor', `${HEAD}spec: &a { application: shop, serviceId: abc }\n`, 'yaml/anchor'],
  ['a directive', `%YAML 1.2\n---\n${HEAD}spec: { application: shop, serviceId: abc }\n`, 'yaml/directive'],
  ['a key twice', `${HEAD}spec: { application: shop, application: shop, serviceId: abc }\n`, 'yaml/duplicate-key'],
  ['no kind of ours', 'apiVersion: v1\nkind: ConfigMap\n', 'document/kind'],
  ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00), 'yaml/encoding'],
  ['a bracket that is not closed', `${HEAD}spec: { application: shop\n`, 'yaml/syntax'],
  ['a conflict of git', `<<<<<<< HEAD\n${HEAD}=======\n${HEAD}>>>>>>> x\n`, 'yaml/syntax'],
  ['a variable without quotes in brackets', `${HEAD}spec: { application: \${A}, serviceId: abc }\n`, 'yaml/syntax'],
] as const)('a file with %s is left alone', ([, content, code]) => {
  expect(formatted(content)).toContain(code);
});

const broken = 'test/manifest/broken';
test.for(readdirSync(broken))('the files of %s are refused, or keep their meaning', (name) => {
  const folder = join(broken, name);
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.yaml'))) {
    const result = formatted(readFileSync(join(folder, file)));
    if (typeof result === 'string') expect(formatted(result)).toBe(result);
    else expect(result.length).toBeGreaterThan(0);
    // What the layout could not keep is no answer to any of these.
    expect(result).not.toEqual(['format/loss']);
  }
});

test.for([
  ['bare comments', '#\n'.repeat(35_000)],
  ['blanks in a comment', `#${' '.repeat(200_000)}x\n`],
  ['blank lines in comments', '# a\n\n\n'.repeat(15_000)],
  ['a label on every line', Array.from({ length: 4900 }, (_, at) => `    k${at}: "v ${at}" # c\n`).join('')],
] as const)('a file of nothing but %s is laid out all the same', ([, filler]) => {
  const isLabels = filler.startsWith(' ');
  const before = `kind: Application\napiVersion: portolan/v1\nmetadata:\n  labels:\n    a: b\n${isLabels ? filler : ''}  name: a\n`;
  const content = `${isLabels ? '' : filler}${before}spec: { appId: 1, team: t, region: r }\n`;
  // What is quadratic in any of these takes minutes, and the test with it.
  expect(formatFile(kindDeclarations, { path: 'a.yaml', content }).type).toBe('formatted');
});

test.for(['examples/portolan.yaml', 'examples/deploy/compose/portolan.yaml', ...examples()])(
  '%s is laid out',
  (file) => {
    const content = readFileSync(file, 'utf8');
    expect(formatted(content)).toBe(content);
  },
);

function examples(): readonly string[] {
  return ['shop', 'blog'].flatMap((name) =>
    readdirSync(join('examples', name)).map((file) => join('examples', name, file)),
  );
}
