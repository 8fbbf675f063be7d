// @ts-check
/** @import { OutputChunk } from 'rolldown' */

/**
 * The files of a chunk, names with texts: its code comes last, with a source map, so that errors name files and lines of the
 * sources. The sources themselves stay where they are.
 * @param {OutputChunk} chunk
 * @returns {[name: string, text: string][]}
 */
export function withSourceMap({ fileName, code, map }) {
  if (map === null) return [[fileName, code]];
  const { version, sources, names, mappings } = map;
  const name = `${fileName}.map`;
  return [
    [name, JSON.stringify({ version, sources, names, mappings })],
    [fileName, `${code}\n//# sourceMappingURL=${name.replace(/.*\//, '')}\n`],
  ];
}
