import { applicationDeclaration } from '../kinds/application/declaration.ts';
import { componentDeclaration } from '../kinds/component/declaration.ts';
import { httpGatewayRuleDeclaration } from '../kinds/http-gateway-rule/declaration.ts';
import type { Declarations, KindDeclaration } from '../kinds/kind.ts';
import { operatorDeclarations } from './operator-declarations.ts';
import { storeInstallDeclaration } from '../kinds/store-install/declaration.ts';

/** Every kind of document there is, by `kind`. */
export const kindDeclarations: Declarations = new Map([
  ...[applicationDeclaration, storeInstallDeclaration, componentDeclaration, httpGatewayRuleDeclaration].map(
    (declaration) => [declaration.kind, declaration as KindDeclaration<unknown>] as const,
  ),
  ...operatorDeclarations,
]);
