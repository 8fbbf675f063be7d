import { printable } from 'telemetry/printable.ts';
import { ConfigurationError } from '../settings/config.ts';

/**
 * Runs an operator's command with the arguments of the process. What it throws is printed as a sentence.
 * @param command returns the exit code
 */
export async function runCommand(command: (args: string[]) => Promise<number>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1); // `… | head` closes the pipe early
  });
  process.exitCode = await command(process.argv.slice(2)).catch((error: Error) => {
    const problems = error instanceof ConfigurationError ? error.problems : error.message.split('\n');
    process.stderr.write(`${problems.map(printable).join('\n')}\n`);
    return 1;
  });
}
