#!/usr/bin/env bash
# rhea: two deliveries that are settled in the same turn of the event loop get the outcome of the first. A receiver that accepts one message and
# rejects the next tells the sender that both were accepted: the second is gone. With a turn between the calls each gets its own.
. "$(dirname "$0")/common.sh"
packages rhea@3.0.5
seen <<'JS'
import { setImmediate as turn } from 'node:timers/promises';
import rhea from 'rhea';

async function outcomes(settle) {
  const receiving = rhea.create_container({ receiver_options: { autoaccept: false, credit_window: 0 } });
  const server = receiving.listen({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const deliveries = [];
  receiving.on('receiver_open', ({ receiver }) => receiver.add_credit(2));
  receiving.on('message', ({ delivery }) => {
    if (deliveries.push(delivery) === 2) settle(...deliveries);
  });
  const connection = rhea.create_container().connect({ port: server.address().port, host: '127.0.0.1', reconnect: false });
  const sender = connection.open_sender('queue');
  const told = [];
  await new Promise((resolve) => {
    for (const outcome of ['accepted', 'rejected', 'released']) {
      sender.on(outcome, () => told.push(outcome) === 2 && resolve());
    }
    sender.once('sendable', () => ['1', '2'].map((body) => sender.send({ body })));
  });
  connection.close();
  server.close();
  return told.join(', ');
}

console.log('accept, reject:', await outcomes((first, second) => [first.accept(), second.reject()]));
console.log('reject, accept:', await outcomes((first, second) => [first.reject(), second.accept()]));
console.log('accept, a turn, reject:', await outcomes(async (first, second) => [first.accept(), await turn(), second.reject()]));
JS
expected <<'TEXT'
accept, reject: accepted, accepted
reject, accept: rejected, rejected
accept, a turn, reject: accepted, rejected
TEXT
