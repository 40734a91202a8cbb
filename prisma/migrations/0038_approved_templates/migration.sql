-- Templates that the network approved: how a template is called there, and what its messages hand over besides their text.
ALTER TABLE "templates" ADD COLUMN "cloud" JSONB;
ALTER TABLE "messages" ADD COLUMN "template" JSONB;
ALTER TABLE "campaigns" ADD COLUMN "template" JSONB;
ALTER TABLE "campaign_recipients" ADD COLUMN "parameters" JSONB;
