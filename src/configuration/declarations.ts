import { applicationDeclaration } from '../kinds/application/declaration.ts';
import { componentDeclaration } from '../kinds/component/declaration.ts';
import { httpGatewayRuleDeclaration } from '../kinds/http-gateway-rule/declaration.ts';
import type { Declarations, KindDeclaration } from '../kinds/kind.ts';
import { storeInstallDeclaration } from '../kinds/store-install/declaration.ts';
import { platformDeclaration } from './platform/declaration.ts';
import { settingsDeclaration } from './settings/declaration.ts';
import { storeDeclaration } from './store/declaration.ts';

function byKind(declarations: readonly KindDeclaration<never>[]): Declarations {
  return new Map(declarations.map((one) => [one.kind, one as KindDeclaration<unknown>]));
}

/** The kinds of the operator's configuration. They are not reconciled, so their number is fixed. */
export const operatorDeclarations = byKind([platformDeclaration, storeDeclaration, settingsDeclaration]);

/** All kinds of documents, by `kind`. */
export const kindDeclarations: Declarations = new Map([
  ...byKind([applicationDeclaration, storeInstallDeclaration, componentDeclaration, httpGatewayRuleDeclaration]),
  ...operatorDeclarations,
]);
