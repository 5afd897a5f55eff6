import type { Declarations, KindDeclaration } from '../kinds/kind.ts';
import { platformDeclaration } from './platform/declaration.ts';
import { settingsDeclaration } from './settings/declaration.ts';
import { storeDeclaration } from './store/declaration.ts';

/** Kinds of the operator's configuration. Nothing reconciles them, so their number is fixed. */
export const operatorDeclarations: Declarations = new Map(
  [platformDeclaration, storeDeclaration, settingsDeclaration].map((declaration) => [
    declaration.kind,
    declaration as KindDeclaration<unknown>,
  ]),
);
