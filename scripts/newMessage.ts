import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { identifierOf, skeletons } from './newMessage/skeletons.ts';

const help = `Writes the skeleton of a new action (V2): until you change it, it reads an
object model and acknowledges that.

  npm run new-message -- NAME

  NAME   its name on the wire, model.archive for example

  src/messages/NAME.ts         the card, with a line in src/messages/index.ts
  test/messages/NAME.test.ts   the table
  sandbox/stories/NAME.ts      the story, with a line in
                               sandbox/stories/index.ts

Nothing is overwritten. CONTRIBUTING.md says what comes next, under "Add a message".`;

class Refused extends Error {
  override name = 'Refused';
}

/** The name of an action that there is not yet. */
function checkedName(names: readonly string[]): string {
  const [name = '', ...others] = names;
  if (name === '' || others.length > 0) throw new Refused(`One name is needed, not ${names.length}.\n\n${help}`);
  if (/^Svc\./i.test(name)) {
    throw new Refused(
      `${name} is the name of an event (V1). Events are deprecated: write an action. If it must be an event, copy card, table and story of Svc.Device.Updated, and its lines in src/messages/index.ts and sandbox/stories/index.ts.`,
    );
  }
  if (!/^[a-z][a-zA-Z]*\.[a-z][a-zA-Z]*$/.test(name)) {
    throw new Refused(
      `${JSON.stringify(name)} is no name of an action: it has two parts of letters, each beginning with a small one, like model.archive.`,
    );
  }
  const [existing] = Object.keys(skeletons(name)).filter(existsSync);
  if (existing) throw new Refused(`${existing} exists already. Nothing has been written.`);
  return name;
}

function withEntry(file: string, place: RegExp, name: string): string {
  const index = readFileSync(file, 'utf8');
  if (!place.test(index)) throw new Refused(`${file} has no line like ${place}. Nothing has been written.`);
  const identifier = identifierOf(name);
  return `import { ${identifier} } from './${name}.ts';\n${index.replace(place, (line) => `  ${identifier},\n${line}`)}`;
}

function main(): void {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return;
  }
  const name = checkedName(positionals);
  const files = {
    ...skeletons(name),
    'src/messages/index.ts': withEntry('src/messages/index.ts', /^ {2}device\w+,$|^\];$/m, name),
    'sandbox/stories/index.ts': withEntry('sandbox/stories/index.ts', /^\];$/m, name),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(file, text);
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...Object.keys(files)];
  execFileSync(process.execPath, biome, { stdio: ['ignore', 'ignore', 'inherit'] });
  console.log(`Written:\n${Object.keys(files).join('\n')}\n\nCONTRIBUTING.md, "Add a message", says what comes next.`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof Refused || (error instanceof TypeError && 'code' in error))) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
