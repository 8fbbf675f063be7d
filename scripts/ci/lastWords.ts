import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

/** Hears what a command writes, and answers the lines that tell why it failed. */
export interface LastWords {
  /** One listener for each stream: lines of two streams do not mix. */
  listener(): (chunk: Uint8Array) => void;
  /** At the end of the streams: the last of those lines with what stands next to them; the last lines at all when none tells anything. */
  lines(): string[];
}

const telling = /\b(errors?|fail(ed|ure|s)?|escaped|untried|cannot|did not end|unused)\b|[×✖]|^\s*(lost|state):/i;
/** About the machine, or what another line says better. */
const noise = /^npm (warn|error)|^Node\.js v|^\s*at .*\(?node:|\bcaught\b/;
const [before, after, most, mostOtherwise] = [2, 3, 30, 10];
const longest = 300;

export function createLastWords(): LastWords {
  const said: string[] = [];
  const told: string[] = [];
  const unended: (() => void)[] = [];
  let following = 0;

  function hear(line: string): void {
    const text = stripVTControlCharacters(line).trimEnd().slice(0, longest);
    if (text === '' || noise.test(text)) return;
    if (telling.test(text)) {
      if (following === 0) told.push(...said.slice(-before));
      following = after + 1;
    }
    if (following > 0) {
      told.push(text);
      following -= 1;
      // What has been told is not told again as what stands before the next one.
      said.length = 0;
    } else said.push(text);
    told.splice(0, told.length - most);
    said.splice(0, said.length - mostOtherwise);
  }

  return {
    listener() {
      const decoder = new StringDecoder();
      let begun = '';
      unended.push(() => {
        hear(begun);
        begun = '';
      });
      return (chunk) => {
        const lines = `${begun}${decoder.write(Buffer.from(chunk))}`.split(/\r?\n/);
        begun = (lines.pop() ?? '').slice(0, 10 * longest);
        for (const line of lines) hear(line);
      };
    },
    lines() {
      for (const end of unended) end();
      return told.length > 0 ? [...told] : [...said];
    },
  };
}
