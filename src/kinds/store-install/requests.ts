import { decodeInstall, decodeInstalled, type InstallRecord } from './wire.ts';
import { writeAddress } from '../../platform/address.ts';
import { checkedSecret, checkedText, isWebUrl, refuse } from '../../platform/request-values.ts';
import { LIST_BYTES_MAX, type WireObject } from '../../platform/transport.ts';
import type { ClassifierRow, WriteEvidence } from '../../platform/verdict.ts';
import { type AppAddress, defineWrite, NO_EVIDENCE, type WriteDeclaration } from '../../platform/writes.ts';
import type { StoreAccess } from '../reconciled.ts';
import answers from './answers.json' with { type: 'json' };

/** Classifier rows for installs and upgrades, besides the platform's table. */
export const installAnswers = answers as unknown as readonly ClassifierRow[];

interface InstallEvidence extends WriteEvidence {
  readonly type: 'install';
  readonly install: InstallRecord;
}

interface OfModel {
  readonly app: AppAddress;
  readonly modelId: string;
  readonly modelVersion: string;
}

interface Install extends OfModel {
  /** true sends `is_deploy=true`; false leaves the parameter out, because any value of it builds. */
  readonly build: boolean;
  readonly store: StoreAccess;
}

interface Upgrade extends OfModel {
  /** The store name in the listing of installed models; null for a model of the platform's own library. */
  readonly marketName: string | null;
}

/** Returns the record in the answer to an install. */
export function shownInstall(evidence: WriteEvidence): InstallRecord | undefined {
  return isOfInstall(evidence) ? evidence.install : undefined;
}

function isOfInstall(evidence: WriteEvidence): evidence is InstallEvidence {
  return evidence.type === 'install';
}

const common = {
  method: 'POST',
  class: 'duplicate-accepting',
  rows: installAnswers,
  // The answer lists every component of the application, so the limit of a list applies.
  answerBytesMax: LIST_BYTES_MAX,
  // An install creates a whole application before it answers, and a timeout does not stop it.
  timeoutMs: 900_000,
} as const satisfies Partial<WriteDeclaration<never>>;

export const install = defineWrite<Install>('install', {
  ...common,
  request: (values) => ({
    path: writeAddress(values.app, 'install'),
    // Any value starts a build, even "false", so the parameter is left out.
    ...(values.build ? { query: { is_deploy: 'true' } } : {}),
    body: installBody(values),
  }),
  evidence: ({ json }, { app }): InstallEvidence | string => {
    const shown = decodeInstall(json, 'install');
    return shown.appId === app.appId
      ? { type: 'install', install: shown }
      : `the platform answered for application ${shown.appId}`;
  },
});

export const upgrade = defineWrite<Upgrade>('upgrade', {
  ...common,
  request: ({ app, modelId, modelVersion, marketName }) => ({
    path: writeAddress(app, 'upgrade'),
    body: {
      update_versions: [
        {
          ...modelBody({ modelId, modelVersion }),
          // Required, and null for a model of the platform's own library.
          market_name: marketName === null ? null : checkedText(marketName, 'store name', 64),
        },
      ],
    },
  }),
  evidence: ({ json }) => {
    decodeInstalled(json, 'upgrade');
    return NO_EVIDENCE;
  },
});

function modelBody({ modelId, modelVersion }: Omit<OfModel, 'app'>): WireObject {
  return {
    app_model_id: checkedText(modelId, 'model id', 64),
    app_model_version: checkedText(modelVersion, 'model version', 64),
  };
}

function installBody({ store, ...model }: Install): WireObject {
  if (!isWebUrl(store.url) || store.url.length > 255) {
    refuse('store address', 'an http or https URL of 255 characters at most, without a password');
  }
  return {
    market_url: store.url,
    market_domain: checkedText(store.domain, 'store domain', 64),
    market_type: checkedText(store.type, 'store type', 64),
    market_access_key: store.accessKey === null ? null : checkedSecret(store.accessKey, 'access key', 64),
    ...modelBody(model),
  };
}
