import type { Intent, Sent, State, Subject } from './history.ts';

export interface Due {
  readonly effects: number;
  /** Codes of which each is right; none at all where the message is not ours. */
  readonly codes: readonly string[];
  /** What its notifications are about. `object` is absent where the service gives it its id. */
  readonly notices: readonly (Omit<Subject, 'object'> & { readonly object: string | undefined })[];
}

/** What a device's messages come to, each handled once and after the other. */
export interface Observation {
  due(intent: Intent): Due;
  /**
   * Goes on behind a message.
   * @param effects how many changes it has made
   * @param hasFailed through our side: what it has changed, it may have changed late
   */
  proceed(sent: Sent, effects: number, hasFailed: boolean): void;
  /** Whether a message has failed, so that what is read afterwards may be behind what is stored in the end. */
  isUncertain(): boolean;
  /** In words, where the backends hold something else than this course leads to. */
  differences(state: State | undefined): string[];
}

/** @param connected names of the identities below the device in the beginning */
export function createCourse(connected: readonly string[]): Observation {
  const versions = new Map<string, number>();
  const marks = new Map<string, string>();
  const types = new Map<string, string>();
  const references = new Map<string, string>();
  const identities = new Set(connected);
  const anonymous: string[] = [];
  let identity: string | undefined;
  let hasFailures = false;
  /** What a message that failed through our side may or may not have written, and early or late. */
  const open = new Set<string>();

  const ok = (effects: number, notices: Due['notices'] = []): Due => ({ effects, codes: ['ok'], notices });
  const refused: Due = { effects: 0, codes: ['http_response_error'], notices: [] };

  function dueToFetch(object: string, contained: boolean): Due {
    const version = versions.get(object);
    if (version === undefined) return refused;
    const children = [...references.keys()].flatMap((key) => {
      const [from, to = ''] = key.split(' ');
      return contained && from === object ? [{ object: to, version: versions.get(to) ?? 1 }] : [];
    });
    const devices = [{ object, version }, ...children].map((one) => ({ ...one, model: 'svc.device' }) as const);
    const configuration = { object, version: 1, model: 'svc.configuration' } as const;
    return ok(
      0,
      [...devices, configuration].map((one) => ({ ...one, isNew: false })),
    );
  }

  function due(intent: Intent): Due {
    switch (intent.does) {
      case 'nothing':
        return { effects: 0, codes: intent.code === undefined ? [] : [intent.code], notices: [] };
      case 'end the process':
        return { effects: 0, codes: ['internal_platform_error'], notices: [] };
      case 'create': {
        const { object, tells } = intent;
        const stored = object === undefined ? undefined : versions.get(object);
        const version = (stored ?? 0) + 1;
        const isNew = stored === undefined;
        return ok(
          1,
          tells.map((model) => ({ object, model, version: model === 'svc.device' ? version : 1, isNew })),
        );
      }
      case 'replace': {
        const stored = versions.get(intent.object);
        if (stored === undefined || intent.version < stored) return refused;
        return ok(intent.version + 1 - stored); // A4: also makes up for what is missing
      }
      case 'define':
        return types.has(intent.type) ? refused : ok(1);
      case 'refer':
        return versions.has(intent.object) && versions.has(intent.to) ? ok(1) : refused;
      case 'identify':
        return ok(1);
      case 'remove':
        // Gone already: refused, unless it may be the repeat of the message that removed it (D10).
        return identities.has(intent.identity) ? ok(1) : { ...refused, codes: [...refused.codes, 'ok'] };
      case 'fetch':
        return dueToFetch(intent.object, intent.contained);
    }
  }

  function write(where: Map<string, string>, key: string, { id }: Sent, effects: number, hasFailed: boolean) {
    if (hasFailed) open.add(key);
    if (effects > 0) where.set(key, id);
  }

  return {
    due,
    isUncertain: () => hasFailures,
    proceed(sent, effects, hasFailed) {
      const { id, intent } = sent;
      hasFailures ||= hasFailed;
      if (intent.does === 'refer') write(references, `${intent.object} ${intent.to}`, sent, effects, hasFailed);
      if (intent.does === 'define') write(types, intent.type, sent, effects, false);
      if (intent.does === 'identify') {
        if (hasFailed) open.add('identity');
        else if (effects > 0) identity = id;
      }
      if (effects === 0) return;
      if (intent.does === 'remove') identities.delete(intent.identity);
      if (intent.does === 'create' && intent.object === undefined) anonymous.push(id);
      else if (intent.does === 'create' || intent.does === 'replace') {
        const { object = '' } = intent;
        versions.set(object, (versions.get(object) ?? 0) + effects);
        marks.set(object, id);
      }
    },
    differences(state) {
      const found: string[] = [];
      for (const [object, version] of versions) {
        const stored = state?.objects[object];
        if (stored?.version !== version)
          found.push(`object ${object} has version ${stored?.version} instead of ${version}`);
        else if (stored.mark !== marks.get(object)) found.push(`object ${object} was last written by ${stored.mark}`);
      }
      const compare = (what: string, stored: readonly string[] = [], wanted: readonly string[]) => {
        const [is, should] = [[...stored].sort().join(', '), [...wanted].sort().join(', ')];
        if (is !== should) found.push(`${what}: ${is || 'none'} instead of ${should || 'none'}`);
      };
      const written = (record: Readonly<Record<string, string>>) =>
        Object.entries(record).map(([key, mark]) => `${key} by ${open.has(key) ? 'whomever' : mark}`);
      compare('objects that got their id from the service', state?.anonymous, anonymous);
      compare('types', written(state?.types ?? {}), written(Object.fromEntries(types)));
      compare('references', written(state?.references ?? {}), written(Object.fromEntries(references)));
      compare('connected identities', state?.connected, [...identities]);
      if (!open.has('identity') && state?.identity !== identity)
        found.push(`its identity was last written by ${state?.identity} instead of ${identity}`);
      return found;
    },
  };
}
