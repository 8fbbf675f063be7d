import { once } from 'node:events';
import { EventHubConsumerClient } from '@azure/event-hubs';

// A program of its own: the event client as an application uses it. It writes each event that it receives, and stops
// when it reads a line. argv: connection string.

const [connectionString = ''] = process.argv.slice(2);
const client = new EventHubConsumerClient('$Default', connectionString);
const subscription = client.subscribe(
  '0',
  {
    processEvents: async (events) => {
      for (const { body } of events) process.stdout.write(`${body}\n`);
    },
    processError: async () => undefined,
  },
  { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
);
await once(process.stdin, 'data');
await subscription.close();
process.exit(0);
