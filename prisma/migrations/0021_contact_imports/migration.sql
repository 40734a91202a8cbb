-- AlterEnum
ALTER TYPE "bulk_operation" ADD VALUE 'import_contacts';

-- AlterTable
ALTER TABLE "bulk_jobs" ADD COLUMN     "options" JSONB;

-- CreateTable
CREATE TABLE "import_pieces" (
    "jobId" UUID NOT NULL,
    "n" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "import_pieces_pkey" PRIMARY KEY ("jobId","n")
);

-- AddForeignKey
ALTER TABLE "import_pieces" ADD CONSTRAINT "import_pieces_jobId_fkey" FOREIGN KEY ("jobId") REFERENCES "bulk_jobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
