import { runCommand } from '../admin/commands.ts';
import { checkDeployment } from '../operations/checkDeployment.ts';

void runCommand(async (args) => {
  const code = await checkDeployment(args, process.env, (text) => process.stdout.write(text));
  // What does not answer keeps connections open: they need not end.
  process.stdout.write('', () => process.exit(code));
  return code;
});
