import { componentKind } from './component/index.ts';
import type { ReconciledKinds } from './define.ts';
import { ruleKind } from './http-gateway-rule/index.ts';
import { installKind } from './store-install/index.ts';

/** Every kind that is reconciled, by name. `declarations.ts` lists all kinds of documents, those of operators included. */
export const reconciledKinds: ReconciledKinds = new Map(
  [installKind, componentKind, ruleKind].map((kind) => [kind.kind, kind]),
);
