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

$login = ['user' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD'), 'dbname' => getenv('PGDATABASE')];
$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', ...$login]);
$after = getenv('AFTER');
$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$since = new DateTimeImmutable('2026-11-01T00:00:00Z');
$mapping = new ResultSetMappingBuilder($em, ResultSetMappingBuilder::COLUMN_RENAMING_INCREMENT);
$mapping->addRootEntityFromClassMetadata(Event::class, 'event');
$select = "SELECT {$mapping->generateSelectClause()} FROM events AS event";
// block 2 of tools.md#php
echo 'feed ', implode(' ', array_column($feed, 'id')), "\n";
echo 'events ', implode(' ', array_column($query->getResult(), 'id')), "\n";
$made = new Event();
$made->note = 'made';
$em->wrapInTransaction(fn () => $em->persist($made));
echo "event {$made->id}\n";
