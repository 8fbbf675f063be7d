import { checkDeployment } from '../../../src/operations/checkDeployment.ts';

/** One check after the other, or several at once, as they are asked for. */
export interface Asked {
  readonly number: number;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What came of it. */
export type Answered = Readonly<{ number: number; code: number; text: string }>;

process.once('disconnect', () => process.exit());
process.on('message', async ({ number, args, environment }: Asked) => {
  let text = '';
  const code = await checkDeployment(args, environment, (more) => {
    text += more;
  });
  process.send?.({ number, code, text } satisfies Answered);
});
