// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { register } from 'node:module';
import { dirname, join } from 'node:path';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a process of the service or the front door: changes constants in its code while the code is loaded (D291). Which
 * ones is in the search of this module's URL.
 */

/** @typedef {Readonly<Record<string, Readonly<Record<string, number>>>>} Changes */

/**
 * `const name = { …, member: 5 }`, as a build writes it.
 * @param {Changes} changes
 */
const placesOf = (changes) =>
  Object.entries(changes).flatMap(([name, members]) =>
    Object.entries(members).map(([member, value]) => ({
      what: `${name}.${member}`,
      place: new RegExp(`(?<=^const ${name}(?:\\$\\d+)? = \\{[^}]*\\b${member}: )[^,\\n}]+`, 'gm'),
      value,
    })),
  );

/** @type {ReturnType<typeof placesOf>} */
let places = [];

if (isMainThread) {
  /** @type {Changes} */
  const changes = JSON.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1)));
  const folder = join(dirname(process.argv[1] ?? ''), 'programs');
  const files = readdirSync(folder).filter((file) => file.endsWith('.js'));
  const code = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  for (const { what, place } of placesOf(changes)) {
    if (code.match(place)?.length !== 1) throw new Error(`the constant ${what} is not in ${folder} exactly once`);
  }
  register(import.meta.url, { data: changes }); // of older builds, which are modules
  places = placesOf(changes);
  vm.Script = class extends vm.Script {
    /** @param {string} code @param {vm.ScriptOptions} options */
    constructor(code, options) {
      const isOurs = options.filename?.includes('/dist/programs/');
      super(isOurs ? changed(code) : code, isOurs ? { ...options, cachedData: undefined } : options);
    }
  };
}

/** @param {string} code */
function changed(code) {
  return places.reduce((text, { place, value }) => text.replace(place, String(value)), code);
}

/** @param {Changes} changes */
export function initialize(changes) {
  places = placesOf(changes);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.includes('/dist/programs/')) return loaded;
  return { ...loaded, source: changed(Buffer.from(/** @type {Uint8Array} */ (loaded.source)).toString()) };
}
