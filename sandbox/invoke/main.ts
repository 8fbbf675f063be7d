import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { BlobServiceClient } from '@azure/storage-blob';
import { createPrinter } from '../print.ts';
import { isRunning, type MethodsState, readState } from '../state.ts';
import { callFrontDoor, NoAnswer } from './call.ts';
import { findObject } from './find.ts';
import { help, type Options, readArguments } from './options.ts';
import { showAnswer, showRequest, showRoute } from './show.ts';

/** Longer than the front door may take: look-ups, the longest time-out, and a little more. */
const patienceMs = 330_000;

const printer = createPrinter();
process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = readArguments();
    if (!options) {
      printer.line(help);
      return 0;
    }
    const body = bodyOf(options.input === '-' ? await text(process.stdin) : options.input, options.timeout);
    const state = await readState(options.directory);
    if (!state || !(await isRunning(state))) throw new Error('No sandbox is running. Start one with: npm run sandbox');
    if (!state.methods) throw new Error('This sandbox was started without remote methods.');
    const object = await findObject(state, options.object, options.model);
    await upload(state.methods, options);

    const { objectId } = object;
    const { model, method, caller } = options;
    const token = caller === 'none' ? undefined : state.methods.tokens[caller];
    const exchange = await callFrontDoor(state, { objectId, model, method, token, body }, patienceMs);
    showRequest(printer, exchange.url, caller, body);
    showRoute(printer, object, exchange);
    showAnswer(printer, exchange);
    if (exchange.status < 300) return 0;
    return exchange.status < 500 ? 1 : 2;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return error instanceof NoAnswer && error.wasAsked ? 2 : 3;
  }
}

/** The input's text as it is: numbers of any size, and what is no JSON, are for the front door to judge. */
function bodyOf(input: string | undefined, timeout: string | undefined): string {
  const members = [
    ...(input === undefined ? [] : [`"input":${input}`]),
    ...(timeout === undefined ? [] : [`"timeout":${timeout}`]),
  ];
  return `{${members.join(',')}}`;
}

/** Each tenant has a folder in the storage. */
async function upload({ files }: MethodsState, { uploads, caller }: Options): Promise<void> {
  const folder = caller === 'stranger' ? 'globex' : 'acme';
  const container = BlobServiceClient.fromConnectionString(files.connectionString).getContainerClient(files.container);
  for (const { name, file } of uploads) {
    await container.getBlockBlobClient(`${folder}/${name}`).uploadData(await readFile(file));
    printer.line(`${file} is in the storage as ${name}.`);
  }
}

function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
