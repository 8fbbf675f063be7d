const guid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const errorId = new RegExp(`"id":"${guid}","meta"`, 'g');
const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * Names for what is different in each run. A GUID is named when it comes up first, `<objectId 1>` or `<id 1>` where it
 * stands under the key `id`. A time is `<timestamp>`.
 */
export type Names = ReturnType<typeof createNames>;

export function createNames() {
  const names = new Map<string, string>();
  const guids = new Map<string, string>();
  const counts = { objectId: 0, id: 0 };

  /** From now on the GUID goes by this name. */
  function give(guid: string, name: string): string {
    names.set(guid, name);
    guids.set(name, guid);
    return name;
  }

  return {
    give,
    /** GUIDs and times give way to names. */
    hide: (text: string) =>
      text
        .replaceAll(errorId, '"id":"<error id>","meta"')
        .replaceAll(new RegExp(`(\\bid[\\s":=]+)?(${guid})`, 'g'), (_all, key: string | undefined, found: string) => {
          const kind = key === undefined ? 'objectId' : 'id';
          return `${key ?? ''}${names.get(found) ?? give(found, `<${kind} ${++counts[kind]}>`)}`;
        })
        .replaceAll(timestamp, '<timestamp>'),
    /** Names give way to the GUIDs that they stand for. Throws when one has not come up. */
    fill: (text: string) =>
      text.replaceAll(/<(?:objectId|id|identity|object) [^<>]+>/g, (name) => {
        const found = guids.get(name);
        if (found === undefined) throw new Error(`${name} has not come up`);
        return found;
      }),
  };
}
