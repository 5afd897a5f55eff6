import { Fields, isRecord, schemaDrift } from './fields.ts';

/**
 * Returns the records of a list answer: a bare list, `{list}`, `{data: {list}}` or `{data: []}`.
 * @throws PortolanError `platform/schema-drift` without a list, or if its total says that it is incomplete.
 */
export function recordsOf(json: unknown, where: string): readonly Fields[] {
  const { list, path, wrapper } = listIn(json, where);
  // With one page taken for the whole list, the records of other pages would look deleted.
  const total = wrapper['total'];
  if (typeof total === 'number' && total > list.length) {
    throw schemaDrift(where, `${path === '' ? '' : `${path}: `}total ${total}`, 'the whole list', list);
  }
  return list.map((item, index) => new Fields(item, where, `${path}[${index}]`));
}

interface FoundList {
  readonly list: readonly unknown[];
  readonly path: string;
  readonly wrapper: Readonly<Record<string, unknown>>;
}

function listIn(json: unknown, where: string): FoundList {
  if (Array.isArray(json)) return { list: json, path: '', wrapper: {} };
  if (isRecord(json)) {
    const { list, data } = json;
    if (Array.isArray(list)) return { list, path: 'list', wrapper: json };
    if (Array.isArray(data)) return { list: data, path: 'data', wrapper: json };
    if (isRecord(data) && Array.isArray(data['list'])) {
      return { list: data['list'], path: 'data.list', wrapper: { ...json, ...data } };
    }
  }
  throw schemaDrift(where, '', 'a list of records', json);
}

/** Returns the record of an answer: bare, `{bean}`, or `{data: {bean}}`. */
export function recordOf(json: unknown, where: string): Fields {
  if (isRecord(json)) {
    const { bean, data } = json;
    if (isRecord(data) && isRecord(data['bean'])) return new Fields(data['bean'], where, 'data.bean');
    if (isRecord(bean)) return new Fields(bean, where, 'bean');
  }
  return new Fields(json, where, '');
}
