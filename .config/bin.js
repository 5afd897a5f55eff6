#!/usr/bin/env node
// The installed program's first file. It stays plain enough for any Node to parse, so that an old one gets a sentence
// instead of a syntax error.
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  console.error(`portolan: Node 24 or newer is needed, this is Node ${process.versions.node} (${process.execPath}).`);
  process.exit(1);
}
// A folder of our own: the default one is shared by every user of the machine.
nodeModule.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'portolan'));
await import('./main.js');
