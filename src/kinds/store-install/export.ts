import type { InstalledModel } from './wire.ts';
import type { ExportContext, Exported, ExportedDocument } from '../export.ts';
import { modelSchema } from './spec.ts';

/** Exports installs from stores of the operator's configuration. */
export function exportInstalls(context: ExportContext): Exported {
  const { installed } = context.live;
  if (installed === 'not-asked') return { documents: [], left: [], unseen: [] };
  if (!installed.readable) {
    const { because } = installed;
    const unseen = [
      because === undefined
        ? 'store installs: this server does not list them, so none is written; what is installed stays as it is.'
        : `store installs: none is written, because the platform could not list them. ${because.message}. ${because.remedy}`,
    ];
    return { documents: [], left: [], unseen };
  }
  const documents: ExportedDocument[] = [];
  const left: string[] = [];
  for (const [modelId, copies] of [...Map.groupBy(installed.value, (copy) => copy.modelId)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    const [only] = copies as [InstalledModel, ...InstalledModel[]];
    const store = storeOf(context, only);
    const why = whyNot(context, copies, store);
    if (why === undefined && store !== undefined) documents.push(documentOf(context, only, store));
    else left.push(`install of model ${modelId}${only.name === null ? '' : ` (${only.name})`}: ${why}`);
  }
  return { documents: documents.sort((a, b) => (a.name < b.name ? -1 : 1)), left, unseen: [] };
}

/** Returns the Store of an install, by the platform's store name, which may be a Store's name or domain. */
function storeOf({ stores, store }: ExportContext, { marketName }: InstalledModel): string | undefined {
  if (marketName !== null && stores.has(marketName)) return marketName;
  const sameDomain = [...stores].filter(([, { domain }]) => domain === marketName);
  const [only, second] = sameDomain;
  return only !== undefined && second === undefined ? only[0] : store;
}

function whyNot(
  context: ExportContext,
  copies: readonly InstalledModel[],
  store: string | undefined,
): string | undefined {
  const [{ modelId, reportedVersion, marketName }] = copies as [InstalledModel];
  if (copies.length > 1)
    return `the application has ${copies.length} copies of it, and it is not clear which one is meant`;
  if (store === undefined) {
    const from =
      marketName === null
        ? 'the server does not say from which store'
        : `the platform calls its store ${JSON.stringify(marketName)}, which is not a Store in the configuration`;
    return `${from}; name the Store with --store`;
  }
  if (reportedVersion === null) return 'the server does not say its version';
  const { id, version } = modelSchema.properties;
  if (!context.fits(id, modelId) || !context.fits(version, reportedVersion))
    return 'a manifest cannot hold its id and version';
  return undefined;
}

function documentOf(context: ExportContext, copy: InstalledModel, store: string): ExportedDocument {
  const { application } = context;
  return {
    kind: 'StoreInstall',
    name: context.nameFor(
      'StoreInstall',
      `${application} ${copy.modelId}`,
      `${application}-${copy.name ?? copy.modelId}`,
    ),
    spec: { application, store, model: { id: copy.modelId, version: copy.reportedVersion ?? '' } },
    remarks: [
      {
        at: ['spec', 'model'],
        text: 'the version as the server reports it; after an upgrade that may be the one before',
      },
    ],
  };
}
