/**
 * Parts that `azure-iothub` does not export, for messages with properties, for handOver and for sdkCures. Only this file
 * imports from its folders.
 */
export { translateError } from 'azure-iothub/dist/amqp_service_errors.js';
export { Amqp as AmqpConnection } from 'azure-iothub/dist/common-amqp/amqp.js';
export * as errors from 'azure-iothub/dist/common-core/errors.js';
export { Message } from 'azure-iothub/dist/common-core/message.js';
