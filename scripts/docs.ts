import { writeAlertRules } from './alertRules.ts';
import { writeAlertTables } from './alertTables.ts';
import { writeAsyncApi } from './asyncapi.ts';
import { writeDashboards } from './dashboards.ts';
import { writeDecisionIndexes } from './decisionIndex.ts';
import { writeEdgeSchema } from './edgeSchema.ts';
import { writeHubAdminOpenApi } from './hubAdminOpenApi.ts';
import { writeHubFactsPages } from './hubFactsPage.ts';
import { writeMessagePages } from './messagePages.ts';
import { writeMethodsOpenApi } from './methodsOpenApi.ts';
import { writeMetricsPage } from './metricsPage.ts';
import { writePerformancePage } from './performancePage.ts';
import { writeSettingsPages } from './settingsPages.ts';
import { writeSizingPage } from './sizingPage.ts';

/** `npm run docs`: rewrites what pages, contracts, alerts and dashboards are made of. One process: each start would take longer than the writing. */

writeSettingsPages();
writeMessagePages();
writeAsyncApi();
writeMethodsOpenApi();
writeHubAdminOpenApi();
writeHubFactsPages();
writeEdgeSchema();
writeMetricsPage();
writeAlertTables();
writeAlertRules();
writeDashboards();
writeDecisionIndexes();
writePerformancePage();
writeSizingPage();
