<?php
// Doctrine's ORM on a column of type uuid.

require 'Doctrine/ORM/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Query\ResultSetMappingBuilder;

class Uuidv7Generator extends AbstractIdGenerator
{
    public function generateId(EntityManagerInterface $em, $entity): string
    {
        return $em->getConnection()->fetchOne('SELECT gen_uuidv7()');
    }
}

#[ORM\Entity, ORM\Table(name: 'events')]
class Event
{
    // block 1 of tools.md#php

    #[ORM\Column(type: 'text')]
    public string $note = '';
}

$url = parse_url(getenv('DATABASE_URL'));
$connection = DriverManager::getConnection([
    'driver' => 'pdo_pgsql',
    'host' => $url['host'],
    'port' => $url['port'],
    'dbname' => substr($url['path'], 1),
    'user' => $url['user'],
    'password' => $url['pass'],
]);
$connection->executeStatement('CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE');
$connection->executeStatement('CREATE TABLE events (id uuid PRIMARY KEY DEFAULT gen_uuidv7(), note text NOT NULL)');
$after = $connection->fetchOne("INSERT INTO events VALUES (gen_uuidv7('2025-01-01'), 'old') RETURNING id");
$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$made = new Event();
$made->note = 'made';
$em->wrapInTransaction(fn () => $em->persist($made));
echo "made {$made->id}\n";
$connection->executeStatement('SELECT pg_sleep(0.01)');
$since = new DateTimeImmutable('2026-11-01T00:00:00Z');
$mapping = new ResultSetMappingBuilder($em, ResultSetMappingBuilder::COLUMN_RENAMING_INCREMENT);
$mapping->addRootEntityFromClassMetadata(Event::class, 'event');
$select = "SELECT {$mapping->generateSelectClause()} FROM events AS event";
// block 2 of tools.md#php
echo 'feed ', implode(' ', array_column($feed, 'id')), "\n";
echo 'later ', implode(' ', array_column($query->getResult(), 'id')), "\n";
