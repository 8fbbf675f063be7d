import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type MethodsState, readRunning } from '../state/state.ts';
import { createPrinter, type Printer } from '../terminal/print.ts';
import type { Streams } from '../terminal/streams.ts';
import { explain } from '../terminal/usage.ts';
import { callFrontDoor, methodsOf, NoAnswer } from './call.ts';
import { findObject } from './find.ts';
import { help, type Options, readArguments } from './invokeOptions.ts';
import { showAnswer, showRequest, showRoute } from './showFrontDoorCall.ts';

/** Longer than the front door takes: look-ups and the longest time-out. */
const answerTimeoutMs = 330_000;

/** Runs `npm run invoke` with these arguments; returns its exit code. */
export async function invoke(args: readonly string[], { stdin, stdout, stderr }: Streams): Promise<number> {
  const printer = createPrinter(stdout);
  try {
    const options = readArguments(args);
    if (!options) {
      printer.line(help);
      return 0;
    }
    const body = bodyOf(options.input === '-' ? await text(stdin) : options.input, options.timeout);
    const state = await readRunning(options.directory);
    const { tokens, files } = methodsOf(state);
    const object = await findObject(state, options.object, options.model);
    await upload(files, options, printer);

    const { objectId } = object;
    const { model, method, caller } = options;
    const token = caller === 'none' ? undefined : tokens[caller];
    const exchange = await callFrontDoor(state, { objectId, model, method, token, body }, answerTimeoutMs);
    showRequest(printer, exchange.url, caller, body);
    showRoute(printer, object, exchange);
    showAnswer(printer, exchange);
    if (exchange.status < 300) return 0;
    return exchange.status < 500 ? 1 : 2;
  } catch (error) {
    stderr.write(`${explain(error, 'invoke')}\n`);
    return error instanceof NoAnswer && error.wasAsked ? 2 : 3;
  }
}

/** The input's text unchanged: the front door judges numbers of any size and what is not JSON. */
function bodyOf(input: string | undefined, timeout: string | undefined): string {
  const members = [
    ...(input === undefined ? [] : [`"input":${input}`]),
    ...(timeout === undefined ? [] : [`"timeout":${timeout}`]),
  ];
  return `{${members.join(',')}}`;
}

/** Each tenant has a folder in the storage. */
async function upload(files: MethodsState['files'], { uploads, caller }: Options, printer: Printer): Promise<void> {
  if (uploads.length === 0) return;
  const { BlobServiceClient } = await import('@azure/storage-blob'); // takes a while to load
  const folder = caller === 'stranger' ? 'globex' : 'acme';
  const container = BlobServiceClient.fromConnectionString(files.connectionString).getContainerClient(files.container);
  for (const { name, file } of uploads) {
    await container.getBlockBlobClient(`${folder}/${name}`).uploadData(await readFile(file));
    printer.line(`${file} is in the storage as ${name}.`);
  }
}
