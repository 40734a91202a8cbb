-- CreateEnum
CREATE TYPE "key_access" AS ENUM ('full', 'send', 'read');

-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "access" "key_access" NOT NULL DEFAULT 'full';
